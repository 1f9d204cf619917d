/**
 * Modules of the user's that register families of their own. Whoever starts workers passes the list on, and each of them loads it before
 * anything else: what a run knows, its workers know.
 */
const loaded: string[] = [];

/** By their URLs, in this order; one that is loaded already is left alone. */
export async function loadPlugins(modules: readonly string[]): Promise<void> {
  for (const module of modules) {
    if (loaded.includes(module)) continue;
    await import(module);
    loaded.push(module);
  }
}

/** In this thread, so far. */
export const loadedPlugins = (): readonly string[] => [...loaded];
