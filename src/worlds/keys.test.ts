/** Our full-size models have exactly the names and shapes of the published ones; no weights are needed to see it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Tensor } from "#tensor";
import { needsShared, sharedFolder } from "../../test/shared.ts";
import { AutoencoderKL, sdxlSizes } from "./autoencoder-kl/autoencoder-kl.ts";
import { EvacModel } from "./evac/model.ts";
import { evacSizes } from "./evac/sizes.ts";
import { publishedState } from "./evac/weights.ts";
import { STDiT3 } from "./opensora/model.ts";
import { stdit3Sizes } from "./opensora/sizes.ts";
import { WanDiT } from "./wan/model.ts";
import { wanSizes } from "./wan/sizes.ts";
import { WanVAE } from "./wan/vae.ts";

const meta = { device: "meta" } as const;
const skip = needsShared();

function published(name: string): Record<string, string> {
  const path = join(sharedFolder()!, "spec/worlds/keys", `${name}.json`);
  const keys = JSON.parse(readFileSync(path, "utf8")) as Record<string, [string, number[]]>;
  return Object.fromEntries(Object.entries(keys).map(([key, [, shape]]) => [key, shape.join("×")]));
}

const shapes = (state: ReadonlyMap<string, Tensor>): Record<string, string> =>
  Object.fromEntries([...state].map(([key, value]) => [key, value.shape.join("×")]));

test("OpenSora's denoiser has the published names and shapes", { skip }, () => {
  assert.deepEqual(shapes(new STDiT3(stdit3Sizes.parse({}), meta).state()), published("opensora_stdit3"));
});

test("OpenSora's autoencoder has the published names and shapes", { skip }, () => {
  assert.deepEqual(shapes(new AutoencoderKL(sdxlSizes, meta).state()), published("opensora_sdxl_vae"));
});

test("Wan's denoiser has the published names and shapes", { skip }, () => {
  assert.deepEqual(shapes(new WanDiT(wanSizes.parse({}), meta).state()), published("wan_dit"));
});

test("Wan's autoencoder has the published names and shapes", { skip }, () => {
  assert.deepEqual(shapes(new WanVAE(wanSizes.parse({}), meta).state()), published("wan_vae"));
});

test("an EVAC checkpoint of ours has the published names and shapes", { skip }, () => {
  const model = new EvacModel(evacSizes.parse({}), meta);
  assert.deepEqual(shapes(publishedState(model, 4)), published("evac"));
});
