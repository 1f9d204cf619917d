/**
 * libtorch and MuJoCo as the addons see them; a missing or broken addon is a finding, not a failure.
 */
export interface Torch {
  readonly version: string;
  readonly threads: number;
  readonly gpus: readonly string[];
}

export interface Mujoco {
  readonly version: string;
}

/** Why something cannot be used. */
export interface Fault {
  readonly error: string;
}

export async function examineTorch(): Promise<Torch | Fault> {
  return orFault(async () => {
    const { cudaAvailable, deviceCount, deviceName, threadCount, torchVersion } = await import("#tensor");
    const gpus = cudaAvailable()
      ? Array.from({ length: deviceCount() }, (_, index) => deviceName(index))
      : [];
    return { version: torchVersion(), threads: threadCount(), gpus };
  });
}

export async function examineMujoco(): Promise<Mujoco | Fault> {
  return orFault(async () => ({ version: (await import("#mujoco")).mujocoVersion() }));
}

async function orFault<T>(examine: () => Promise<T>): Promise<T | Fault> {
  try {
    return await examine();
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
