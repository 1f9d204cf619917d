/**
 * PyTorch's `.pth`, `.pt` and `.bin` files (and LIBERO's `.pruned_init`): what `torch.save` writes.
 *
 * Two layouts: since 1.6 a zip with one pickle and one stored member per storage; before, pickles followed
 * by raw storages (`torch-legacy.ts`). Tensors are mapped from the file, not copied. TorchScript archives
 * hold programs and are refused.
 */
import { type MappedFile, mapFile, type Tensor } from "#tensor";
import { type FileBytes, withFileBytes } from "./file-bytes.ts";
import { type Fault, fileFault } from "./file-fault.ts";
import { mappedTensor } from "./mapped-tensor.ts";
import { elementBytes } from "./numeric-array.ts";
import { builtinConstructors } from "./pickle-builtins.ts";
import { numpyConstructors } from "./pickle-numpy.ts";
import { isConstructor } from "./pickle-value.ts";
import { printable } from "./printable.ts";
import { isLegacyTorch, readLegacyTorch } from "./torch-legacy.ts";
import { checkInsideStorage, parseStorageId, StoredTensor, torchConstructors } from "./torch-pickle.ts";
import { unpickle } from "./unpickler.ts";
import { readZipMember, readZipMembers } from "./zip.ts";

export const torchAllowed = new Map([...builtinConstructors, ...numpyConstructors, ...torchConstructors]);

/** The saved value: dicts as Maps, tensors as Tensors over the mapped file, NumPy arrays as NumpyArray. */
export function readTorch(path: string): unknown {
  const value = readTorchLayout(path);
  const tensors = new Map<StoredTensor, Tensor>();
  let file: MappedFile | undefined;
  const toTensor = (stored: StoredTensor): Tensor => {
    file ??= mapFile(path);
    const known = tensors.get(stored) ?? mappedTensor(file, stored);
    tensors.set(stored, known);
    return known;
  };
  try {
    return replaceStored(value, toTensor);
  } finally {
    file?.close(); // the tensors keep the mapping alive
  }
}

/** A state dict: the file's tensors by name. Looks inside the usual wrappers ("state_dict", "model", …). */
export function readTorchState(path: string): Map<string, Tensor> {
  const value = readTorch(path);
  const wrapped = ["state_dict", "model_state_dict", "model_state", "model", "module"].map((key) =>
    value instanceof Map ? value.get(key) : undefined,
  );
  const state = wrapped.find((inner) => inner instanceof Map) ?? value;
  const fault = fileFault(path, "state dict");
  if (!(state instanceof Map)) throw fault("it does not hold a dict of tensors");
  for (const [key, tensor] of state as Map<unknown, Partial<Tensor> | null>) {
    if (typeof key !== "string") throw fault(`it has a key that is not text: ${printable(key)}`);
    if (typeof tensor?.requiresGrad !== "boolean") throw fault(`its entry "${key}" is not a tensor`);
  }
  return state as Map<string, Tensor>;
}

/** The same value with each tensor described and not loaded; needs no libtorch. */
export function readTorchLayout(path: string): unknown {
  const fault = fileFault(path, "PyTorch file");
  return withFileBytes(path, fault, (file) => {
    const value = isLegacyTorch(file) ? readLegacyTorch(file, torchAllowed, fault) : readZipped(file, fault);
    return replaceStored(value, (stored) => {
      checkInsideStorage(stored, fault);
      return stored;
    });
  });
}

function readZipped(file: FileBytes, fault: Fault): unknown {
  const members = readZipMembers(file, fault);
  const pickle = [...members.keys()].find((name) => /^([^/]*\/)?data\.pkl$/.test(name));
  if (pickle === undefined) throw fault("it has no data.pkl, so torch.save did not write it");
  const folder = pickle.slice(0, -"data.pkl".length);
  if (members.has(`${folder}constants.pkl`)) throw fault("it is a TorchScript program, not saved tensors");
  const order = members.get(`${folder}byteorder`);
  if (order && Buffer.from(readZipMember(file, order, fault)).toString() !== "little") {
    throw fault("it was saved on a big-endian machine; save it again on a little-endian one");
  }
  const storages = new Map<string, object>();
  const persistent = (id: unknown) => {
    const { key, dtype, count } = parseStorageId(id, fault);
    const member = members.get(`${folder}data/${key}`);
    if (!member?.stored) throw fault(`the bytes of its storage "${key}" are missing or compressed`);
    if (count * elementBytes(dtype) > member.size)
      throw fault(`its storage "${key}" is smaller than declared`);
    const storage = storages.get(key) ?? {
      key,
      dtype,
      byteOffset: member.dataOffset,
      byteLength: member.size,
    };
    storages.set(key, storage);
    return storage;
  };
  const bytes = readZipMember(file, members.get(pickle)!, fault);
  return unpickle(bytes, { fault, allowed: torchAllowed, persistent, fileBytes: file.size }).value;
}

/** A copy of the value with tensors replaced and bare type names as text; shared parts stay shared. */
function replaceStored(value: unknown, replace: (stored: StoredTensor) => unknown): unknown {
  const done = new Map<object, unknown>();
  const visit = (node: unknown): unknown => {
    if (typeof node !== "object" || node === null) return node;
    if (!done.has(node)) done.set(node, rebuilt(node));
    return done.get(node);
  };
  const rebuilt = (node: object): unknown => {
    if (node instanceof StoredTensor) return replace(node);
    if (isConstructor(node)) return node.name;
    if (Array.isArray(node)) return node.map(visit);
    if (node instanceof Set) return new Set([...node].map(visit));
    if (node instanceof Map) return new Map([...node].map(([key, item]) => [visit(key), visit(item)]));
    return node;
  };
  return visit(value);
}
