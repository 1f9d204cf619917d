/**
 * A part of a network: parameters are its fields, and a parameter's name is the path of fields that leads to it.
 *
 * Names are therefore the published ones ("layers.0.attn.qkv.weight") by construction: a model is written with the
 * checkpoint's field names and loads without a translation table. Fields may be Tensors (parameters or buffers),
 * Modules, and arrays or plain records of Modules; anything else is ignored.
 */
import { type Device, type DType, noGrad, Tensor } from "#tensor";
import { checkState } from "./check-state.ts";

export interface ModuleOptions {
  readonly device?: Device | undefined;
  readonly dtype?: DType | undefined;
}

export interface LoadOptions {
  /** Only keys that begin with it are ours; it is cut off before comparing. */
  readonly prefix?: string;
  /** False lets keys be missing or extra; shapes must still fit. */
  readonly strict?: boolean;
  /** Where the state came from, for error messages. */
  readonly source?: string;
  /** Takes the given tensors themselves where type and device fit, instead of copying: for mapped checkpoints. */
  readonly adopt?: boolean;
}

export type State = ReadonlyMap<string, Tensor>;

export abstract class Module {
  /** Every parameter and buffer, depth first in the order of fields. */
  namedParameters(prefix = ""): Map<string, Tensor> {
    const found = new Map<string, Tensor>();
    this.#visit(prefix, (name, owner, field) => found.set(name, owner[field] as Tensor));
    return found;
  }

  parameters(): Tensor[] {
    return [...this.namedParameters().values()];
  }

  state(prefix = ""): Map<string, Tensor> {
    return this.namedParameters(prefix);
  }

  /** Copies values in by name. A missing, extra or misshapen key is one precise error that names them all. */
  loadState(state: State | Readonly<Record<string, Tensor>>, options: LoadOptions = {}): void {
    const { prefix = "", strict = true, source = "the given state", adopt = false } = options;
    const entries = state instanceof Map ? state : new Map(Object.entries(state));
    const ours = this.namedParameters();
    const given = new Map<string, Tensor>();
    for (const [key, value] of entries)
      if (key.startsWith(prefix)) given.set(key.slice(prefix.length), value);
    checkState(ours, given, { strict, source, prefix });
    this.#visit("", (name, owner, field) => {
      const value = given.get(name);
      if (value)
        owner[field] = adopt ? adopted(owner[field] as Tensor, value) : copied(owner[field] as Tensor, value);
    });
  }

  /** Moves every parameter; a "meta" module gets real but unset memory. */
  to(options: ModuleOptions): this {
    noGrad(() => {
      this.#visit("", (_, owner, field) => {
        const old = owner[field] as Tensor;
        owner[field] = old.to(options).requiresGrad_(old.requiresGrad);
      });
    });
    return this;
  }

  /** Marks all parameters, or those whose name passes, as wanting gradients. */
  requiresGrad_(on: boolean, select: (name: string) => boolean = () => true): this {
    for (const [name, parameter] of this.namedParameters()) if (select(name)) parameter.requiresGrad_(on);
    return this;
  }

  /** Every module inside, with its path; itself first. */
  *modules(prefix = ""): Generator<[string, Module]> {
    yield [prefix, this];
    for (const [name, value] of Object.entries(this))
      yield* modulesOf(value, prefix ? `${prefix}.${name}` : name);
  }

  dispose(): void {
    for (const parameter of this.parameters()) parameter.dispose();
  }

  #visit(prefix: string, visit: (name: string, owner: Record<string, unknown>, field: string) => void): void {
    for (const [path, module] of this.modules()) {
      const owner = module as unknown as Record<string, unknown>;
      for (const [field, value] of Object.entries(owner)) {
        if (value instanceof Tensor) visit(`${prefix}${path ? `${path}.` : ""}${field}`, owner, field);
      }
    }
  }
}

function* modulesOf(value: unknown, path: string): Generator<[string, Module]> {
  if (value instanceof Module) yield* value.modules(path);
  else if (Array.isArray(value)) for (const [i, x] of value.entries()) yield* modulesOf(x, `${path}.${i}`);
  else if (isPlainRecord(value))
    for (const [key, x] of Object.entries(value)) yield* modulesOf(x, `${path}.${key}`);
}

const isPlainRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function copied(target: Tensor, value: Tensor): Tensor {
  if (target.device === "meta")
    return value.to({ dtype: target.dtype, copy: true }).requiresGrad_(target.requiresGrad);
  noGrad(() => target.copy_(value));
  return target;
}

function adopted(target: Tensor, value: Tensor): Tensor {
  const fits = value.dtype === target.dtype && (target.device === "meta" || value.device === target.device);
  return fits ? value.requiresGrad_(target.requiresGrad) : copied(target, value);
}
