import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { liberoForTests } from "../libero-assets.ts";
import { needsShared, sharedFolder } from "../shared.ts";
import { run } from "./libero.ts";

const { folder, skip: noAssets } = await liberoForTests();
const skip = needsShared() || noAssets;

for (const episode of ["replay/libero_spatial_04_i3_s11", "replay/libero_10_09_i0_s3"]) {
  test(`the recorded episode ${episode} happens again, scene, motion, judgment and pictures`, {
    skip,
  }, async () => {
    const cases = await run(join(sharedFolder()!, "fixtures/libero", episode), { assets: folder });
    assert.ok(cases.length >= 14, `${cases.length} comparisons were made`);
    assert.deepEqual(
      cases.filter(({ ok }) => !ok),
      [],
    );
  });
}
