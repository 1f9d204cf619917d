/** A captured step is the fast way to learn; should capturing fail on this machine, the plain way still makes the world. */
import { UserError } from "#registry";

type Settings = Readonly<Record<string, unknown>>;

interface Training {
  readonly device: string;
  readonly settings: Settings;
  /** Whether an earlier attempt was interrupted. */
  readonly begun: boolean;
}

/** Mistakes that a user can mend are not answered by a second attempt. */
export async function orWithoutGraphs(
  what: string,
  { device, settings, begun }: Training,
  attempt: (settings: Settings, resume: boolean) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await attempt(settings, begun);
  } catch (error) {
    if (device === "cpu" || settings.cuda_graph === false || error instanceof UserError) throw error;
    console.log(`${what}: ${error instanceof Error ? error.message : error}; again, without CUDA graphs`);
    return attempt({ ...settings, cuda_graph: false }, true);
  }
}
