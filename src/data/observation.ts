/**
 * What a policy sees: one row per environment slot, camera pictures as bytes, never as float pixels.
 *
 * Shapes: B slots, K cameras, H × W pixels, S state numbers. Pictures are channel-last RGB, top row first,
 * already turned the way the policy was trained (LIBERO's 180° turn is the environment's business).
 */
import { cat, type Tensor } from "#tensor";

export interface Observation {
  readonly mainImages: Tensor; // uint8 [B, H, W, 3]
  readonly wristImages?: Tensor | undefined; // uint8 [B, K, H, W, 3]; absent in world models
  readonly extraImages?: Tensor | undefined; // uint8 [B, K, H, W, 3]
  readonly states: Tensor; // float32 [B, S]; zeros where the env has no proprioception
  readonly taskDescriptions: readonly string[]; // B sentences, in the dataset's own words and case
}

const imageFields = ["mainImages", "wristImages", "extraImages", "states"] as const;

export function batchSize(observation: Observation): number {
  return observation.taskDescriptions.length;
}

/** Applies the same tensor operation to every field; `describe` answers for the sentences. */
export function mapObservation(
  observation: Observation,
  change: (tensor: Tensor) => Tensor,
  describe: (sentences: readonly string[]) => readonly string[] = (sentences) => sentences,
): Observation {
  const { wristImages, extraImages } = observation;
  return {
    mainImages: change(observation.mainImages),
    ...(wristImages && { wristImages: change(wristImages) }),
    ...(extraImages && { extraImages: change(extraImages) }),
    states: change(observation.states),
    taskDescriptions: describe(observation.taskDescriptions),
  };
}

/** Rows `start … start + length − 1`, sharing memory with the original. */
export function sliceObservation(observation: Observation, start: number, length: number): Observation {
  return mapObservation(
    observation,
    (tensor) => tensor.narrow(0, start, length),
    (sentences) => sentences.slice(start, start + length),
  );
}

/** The rows named by `rows` (int64 [N]), copied. */
export function selectObservation(observation: Observation, rows: Tensor): Observation {
  return mapObservation(
    observation,
    (tensor) => tensor.indexSelect(0, rows),
    (sentences) => rows.toArray().map((row) => sentences[Number(row)] ?? ""),
  );
}

/** Stacks batches below each other, in order. All must have the same cameras. */
export function concatObservations(parts: readonly Observation[]): Observation {
  const [first] = parts;
  if (!first) throw new Error("internal: no observations to join");
  if (parts.length === 1) return first;
  const join = (field: (typeof imageFields)[number]): Tensor | undefined => {
    const tensors = parts.flatMap((part) => part[field] ?? []);
    if (tensors.length === 0) return undefined;
    if (tensors.length < parts.length) throw new Error(`internal: only some observations have ${field}`);
    return cat(tensors, 0);
  };
  const wristImages = join("wristImages");
  const extraImages = join("extraImages");
  return {
    mainImages: join("mainImages") as Tensor,
    ...(wristImages && { wristImages }),
    ...(extraImages && { extraImages }),
    states: join("states") as Tensor,
    taskDescriptions: parts.flatMap((part) => part.taskDescriptions),
  };
}

export function disposeObservation(observation: Observation): void {
  for (const field of imageFields) observation[field]?.dispose();
}
