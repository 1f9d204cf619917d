/**
 * How a child process lives: for its parent alone.
 *
 * Ctrl-C and a closed terminal signal the whole process group, and a service manager signals every process it started. Only the parent knows
 * what is to be saved first, so its children leave those signals to it; they end when it ends them, or when it is gone.
 */
const forTheParent = ["SIGINT", "SIGHUP", "SIGTERM"] as const;

/** To be called first thing in a child's program. The answer says whether the parent is gone, also in work that never returns to the event loop. */
export function liveForParent(): () => boolean {
  const parent = process.ppid;
  process.on("disconnect", () => process.exit(0));
  for (const signal of forTheParent) process.on(signal, () => {});
  return () => process.ppid !== parent;
}
