/** The machine as libtorch sees it: version, threads, devices, and the switches that trade exactness for speed. */
import { addon } from "./addon.ts";

export const torchVersion = (): string => addon.torchVersion();

/** How many CPU threads one operator may use; with a number, sets it first. */
export const threadCount = (count?: number): number =>
  count === undefined ? addon.threadCount() : addon.threadCount(count);

/** Number of accelerators that libtorch can use. */
export const deviceCount = (): number => addon.deviceCount();

export const deviceName = (index: number): string => addon.cudaName?.(index) ?? "none";

/** True when the addon was built against a CUDA build of libtorch and a GPU answers. */
export const cudaAvailable = (): boolean => addon.cudaMemory !== undefined && addon.deviceCount() > 0;

/** Waits until the current device has done everything asked of it. */
export const synchronize = (): void => addon.deviceSynchronize();

/** Makes `cuda` mean `cuda:<index>` on this thread. */
export const useDevice = (index: number): void => addon.deviceUse(index);

/** TF32 matrix units for float32 products: faster, about three decimal digits. Off unless asked for. */
export const allowTf32 = (on: boolean): void => addon.allowTf32(on);

/** Refuses operators without a deterministic implementation. */
export const deterministic = (on: boolean): void => addon.deterministic(on);

/**
 * Ends the process at once, without asking its threads: `process.exit` waits for every one of them, and one that hangs in a system call
 * would keep it waiting for ever.
 */
export const endProcess = (code: number): never => addon.endProcess(code);
