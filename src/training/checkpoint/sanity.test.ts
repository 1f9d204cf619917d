/** What a run does when its policy is ruined: by its learning rate, or before it began. */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readSafetensors, writeSafetensors } from "#formats";
import { readMetricsFile } from "#metrics";
import { findNotFinite, full, noGrad, ones, type Tensor, tensor } from "#tensor";
import { playRun, tinyCheckpoint, tinyOverrides } from "../../../test/support/tiny-run.ts";
import { evaluateOnly } from "../evaluate-only.ts";
import { readRun } from "../read-run.ts";
import { silent } from "../reporter.ts";
import { checkpointRoot } from "../run-folder/places.ts";
import { listCheckpoints } from "./folder.ts";
import { findDamage } from "./manifest.ts";
import { updateFault, WeightWatch } from "./sanity.ts";

const config = "tabletop_spatial_grpo_openvlaoft_mini";
const root = mkdtempSync(join(tmpdir(), "reverie-sanity-"));
after(() => rmSync(root, { recursive: true, force: true }));
const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
let count = 0;
const newPath = (): string => join(root, String(count++));

const read = (logs: string, ...more: string[]) =>
  readRun(config, {
    overrides: [
      ...tinyOverrides({ model, logs, steps: 3 }),
      "algorithm.entropy_bonus=0.01",
      "algorithm.filter_rewards=False",
      "actor.optim.lr_warmup_steps=0",
      ...more,
    ],
  });

const play = async (logs: string, ...more: string[]): Promise<void> => playRun(await read(logs, ...more));

test("a rate of 1e10 leaves finite weights that no checkpoint gets, and the last good one is named", async () => {
  const logs = newPath();
  await play(logs, "runner.max_epochs=1");
  const good = join(checkpointRoot(await read(logs)), "global_step_1");
  await assert.rejects(
    play(logs, "runner.resume_dir=auto", "actor.optim.lr=1e10"),
    (error: Error) =>
      error.name === "UserError" &&
      /training step 1 has ruined the policy: the norm of the trained weights is .* and was /.test(
        error.message,
      ) &&
      error.message.includes(`the last good checkpoint is ${good}; to go on from it: reverie train`),
  );
  assert.deepEqual(
    listCheckpoints(checkpointRoot(await read(logs))).map(({ step }) => step),
    [1],
  );
  assert.deepEqual(findDamage(good), []);
  await play(logs, "runner.resume_dir=auto", "runner.max_epochs=2");
  assert.ok(existsSync(join(checkpointRoot(await read(logs)), "global_step_2")), "and it was good");
});

test("a rate of 1e3 ends the run in its first step, with its numbers told, also when no checkpoint was due", async () => {
  const logs = newPath();
  await assert.rejects(
    play(logs, "algorithm.update_epoch=3", "actor.optim.lr=1e3", "runner.save_interval=-1"),
    /training step 0 has ruined the policy: .*\nthere is no checkpoint yet/,
  );
  assert.deepEqual(
    readMetricsFile(join(logs, "metrics.jsonl")).map(({ step }) => step),
    [0],
  );
});

test("loss, gradient and KL must be sane, but updates that were not taken are not judged", () => {
  const learned = (metrics: Record<string, number>, skipped = 0) => ({ metrics, skipped });
  assert.equal(updateFault(learned({ "train/loss": 1, "train/actor/approx_kl": 0.3 })), undefined);
  assert.match(updateFault(learned({ "train/loss": Number.NaN })) ?? "", /its loss is NaN/);
  assert.match(
    updateFault(learned({ "train/actor/grad_norm": Infinity })) ?? "",
    /gradient norm is Infinity/,
  );
  assert.match(updateFault(learned({ "train/actor/approx_kl": -3.2e6 })) ?? "", /KL of -3200000/);
  assert.equal(updateFault(learned({ "train/loss": Number.NaN }, 1)), undefined);
});

test("weights are judged by those that were last kept", () => {
  const weights = (value: number): Map<string, Tensor> => new Map([["w", full([4], value)]]);
  const watch = new WeightWatch(weights(1));
  assert.equal(watch.fault(weights(5)), undefined);
  assert.match(watch.fault(weights(40)) ?? "", /is 80, and was 2 when they were last known to be good/);
  watch.kept(weights(5));
  assert.equal(watch.fault(weights(40)), undefined);
  assert.match(watch.fault(weights(Number.NaN)) ?? "", /left NaN in w/);
});

test("the tensor that is not finite is found among many, and large numbers are numbers", () => {
  const find = (...values: Tensor[]) => findNotFinite(new Map(values.map((value, i) => [`t${i}`, value])));
  assert.equal(find(ones([3]), full([2], 3e38), tensor([1n])), undefined);
  assert.deepEqual(find(ones([3]), tensor([1, Number.NaN])), { name: "t1", what: "NaN" });
  assert.deepEqual(find(ones([3], { dtype: "bfloat16" }), tensor([1, -Infinity])), {
    name: "t1",
    what: "infinity",
  });
});

test("a model with NaN is named as such before anything is trained, evaluated or laid over", async () => {
  const bad = newPath();
  cpSync(model, bad, { recursive: true });
  const file = join(bad, "model.safetensors");
  const weights = new Map([...readSafetensors(file)].map(([name, value]) => [name, value.clone()]));
  const [name, victim] = [...weights].find(([, value]) => /float/.test(value.dtype))!;
  noGrad(() => victim.view([-1]).narrow(0, 0, 1).fill_(Number.NaN));
  writeSafetensors(file, weights);
  const named = new RegExp(`the model in ${bad} has NaN in tensor `);
  const use = [`actor.model.model_path=${bad}`, `rollout.model.model_path=${bad}`];
  await assert.rejects(play(newPath(), ...use), named);
  await assert.rejects(evaluateOnly(await read(newPath(), "runner.only_eval=True", ...use), silent), named);
  const over = play(newPath(), `runner.ckpt_path=${file}`);
  await assert.rejects(
    over,
    new RegExp(`the model in ${file} has NaN in tensor ${name.replaceAll(".", "\\.")}`),
  );
});
