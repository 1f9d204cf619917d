/** Files: weights, arrays, pictures and videos, in the formats that the field publishes. */
export { flushFolder, replaceFile, sweepTemporaries, temporaryName } from "./atomic-write.ts";
export { type Checkpoint, openCheckpoint } from "./checkpoint-folder.ts";
export { findFfmpeg } from "./ffmpeg.ts";
export { FileLock, type Holder, holderText, isThisProcess } from "./file-lock.ts";
export { type JsonObject, readJsonFile, writeJsonFile } from "./json-file.ts";
export { makeFolder } from "./make-folder.ts";
export { type Mp4Options, Mp4Writer } from "./mp4-writer.ts";
export { readNpy, writeNpy } from "./npy.ts";
export { readNpz, writeNpz } from "./npz.ts";
export type { ElementData, ElementType, NumericArray } from "./numeric-array.ts";
export { isNumericArray, type NumpyArray, type ObjectArray, type TextArray } from "./numpy-array.ts";
export * from "./pickle-write.ts";
export { decodePng, readPng } from "./png-decode.ts";
export { encodePng, type PngOptions } from "./png-encode.ts";
export type { Picture } from "./png-layout.ts";
export { readSafetensors, writeSafetensors } from "./safetensors.ts";
export {
  readSafetensorsHeader,
  type SafetensorsEntry,
  type SafetensorsHeader,
} from "./safetensors-header.ts";
export { readTorch, readTorchLayout, readTorchState } from "./torch-file.ts";
export { StoredTensor } from "./torch-pickle.ts";
export { writeTorchState } from "./torch-write.ts";
export { openZip, type ZipArchive } from "./zip-archive.ts";
export { encodeZip, type ZipInput } from "./zip-write.ts";
