/**
 * The door to libtorch: opens the compiled addon, once per JavaScript thread, and gives it the shared buffer.
 *
 * Nothing outside this room sees it. Handles are numbers that only the addon can make and only the thread that
 * made them can use.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { setUpAdvice, setUpFolder, UserError } from "#registry";

export interface TypeInfo {
  readonly kind: string;
  readonly optional: boolean;
  readonly list: boolean;
  readonly elementOptional: boolean;
  readonly fixedLength: number;
}
export interface ArgumentInfo extends TypeInfo {
  readonly name: string;
  readonly keywordOnly: boolean;
  readonly hasDefault: boolean;
  readonly written: boolean;
}
export interface ResultInfo extends TypeInfo {
  readonly name: string;
  readonly sameAs: number;
}
export interface OperatorInfo {
  readonly schema: string;
  readonly arguments: readonly ArgumentInfo[];
  readonly results: readonly ResultInfo[];
}

export interface DeviceMemory {
  readonly allocated: number;
  readonly allocatedPeak: number;
  readonly reserved: number;
  readonly reservedPeak: number;
  readonly free: number;
  readonly total: number;
}

export interface TorchAddon {
  run(): void;
  useBuffer(buffer: Float64Array): void;
  callGeneral(operator: number, args: unknown[]): unknown[];
  operatorFind(name: string, overload: string): number;
  operatorDescribe(operator: number): OperatorInfo;
  operatorNames(): string[];
  tensorRelease(handle: number): void;
  tensorReleaseMany(count: number): void;
  tensorRetain(handle: number): number;
  tensorsLiving(): number;
  tensorMeta(handle: number): void;
  tensorFromBytes(data: ArrayBufferView, dtype: number, shape: readonly number[], pinned: boolean): number;
  tensorToBytes(handle: number): ArrayBuffer;
  tensorHostView(handle: number): ArrayBuffer;
  tensorItem(handle: number): number;
  mapOpen(path: string): [id: number, byteLength: number];
  mapClose(id: number): void;
  mapBytes(id: number, offset: number, length: number): ArrayBuffer;
  mapTensor(id: number, offset: number, dtype: number, shape: readonly number[]): number;
  shareGive(handle: number): number;
  shareTake(ticket: number): number;
  gradMode(on: boolean): boolean;
  inferenceMode(enter: boolean): void;
  setRequiresGrad(handle: number, on: boolean): void;
  gradGet(handle: number): number;
  gradSet(handle: number, grad: number): void;
  backward(outputs: number[], gradOutputs: number[], retain: boolean, create: boolean): void;
  gradients(
    outputs: number[],
    inputs: number[],
    gradOutputs: number[],
    retain: boolean,
    create: boolean,
    allowUnused: boolean,
  ): number[];
  generatorNew(device: number, seedHigh: number, seedLow: number): number;
  generatorState(generator: number): number;
  generatorRestore(generator: number, state: number): void;
  generatorRelease(generator: number): void;
  seedDefault(seedHigh: number, seedLow: number): void;
  torchVersion(): string;
  threadCount(count?: number): number;
  allowTf32(on: boolean): void;
  deterministic(on: boolean): void;
  endProcess(code: number): never;
  deviceCount(): number;
  deviceSynchronize(): void;
  deviceUse(index: number): void;
  storeInProcess(name: string, timeoutMs: number): number;
  storeListen(port: number): { readonly descriptor: number; readonly port: number };
  storeTcp(port: number, world: number, descriptor: number, timeoutMs: number): Promise<number>;
  storePrefix(store: number, prefix: string): number;
  storeSet(store: number, key: string, value: string): Promise<void>;
  storeGet(store: number, key: string): Promise<string>;
  storeAdd(store: number, key: string, amount: number): Promise<number>;
  storeClose(store: number): void;
  groupNew(backend: string, store: number, rank: number, size: number, timeoutMs: number): Promise<number>;
  groupClose(group: number): void;
  collective(group: number, kind: string, out: number, input: number, x: number, timeoutMs: number): number;
  collectiveWait(work: number): void;
  collectiveWaitAsync(work: number): Promise<void>;
  /** The rest is only in a CUDA build. */
  cudaMemory?(device: number, resetPeaks: boolean): DeviceMemory;
  cudaEmptyCache?(): void;
  cudaName?(device: number): string;
  streamNew?(highPriority: boolean): number;
  streamUse?(stream: number): void;
  streamSynchronize?(stream: number): void;
  streamSynchronizeAsync?(stream: number): Promise<void>;
  streamRecord?(handle: number, stream: number): void;
  eventNew?(): number;
  eventRecord?(event: number): void;
  eventWait?(event: number): void;
  eventDone?(event: number): boolean;
  eventElapsed?(from: number, to: number): number;
  graphNew?(): number;
  graphBegin?(graph: number, shareMemoryWith?: number): void;
  graphUseGenerator?(graph: number, generator: number): void;
  graphEnd?(graph: number): void;
  graphReplay?(graph: number): void;
  graphDispose?(graph: number): void;
  kernelCompile?(source: string, name: string): number;
  kernelLaunch?(): void;
  kernelRecord?(
    outputs: readonly number[],
    inputs: readonly number[],
    saved: readonly number[],
    scratch: readonly number[],
    launches: readonly number[],
  ): void;
}

function open(): TorchAddon {
  const path = process.env.REVERIE_TORCH_ADDON ?? join(setUpFolder(), "build", "torch.node");
  try {
    return createRequire(import.meta.url)(path) as TorchAddon;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new UserError(`cannot open the libtorch addon (${reason}); build it with: ${setUpAdvice()}`, {
      cause,
    });
  }
}

export const addon: TorchAddon = open();

/** Arguments and results of packed calls travel through it; 512 kB hold lists of some 60,000 tensors. */
export const buffer = new Float64Array(1 << 16);
addon.useBuffer(buffer);
