/** Worlds of every family from tiny recipes, whole, interrupted and gone on with; and recipes that are refused. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { UserError } from "#registry";
import { recognizeWorld } from "#worlds";
import { worldCommand } from "../index.ts";
import { orWithoutGraphs } from "./or-without-graphs.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-make-"));
after(() => rmSync(folder, { recursive: true }));

const brief = { steps: 2, batch_size: 4, lr_warmup_steps: 1 };
const stage = { steps: 1, lr: 1e-4, ema_decay: 0 };
const shared = {
  suite: "tabletop_object",
  device: "cpu",
  workers: 1,
  data: join(folder, "recordings"),
  recordings: {
    size: 16,
    steps: 16,
    scripted: { episodes: 10, seed: 11 },
    tested: { episodes: 2, seed: 13 },
  },
  reward_model: { ...brief, widths: [4, 4, 4, 4] },
  starts: { count: 3 },
  report: { batch: 2 },
};
const sizes: Readonly<Record<string, { readonly autoencoder: object; readonly denoiser: object }>> = {
  opensora: {
    autoencoder: { ...brief, block_out_channels: [8, 8], norm_num_groups: 4 },
    denoiser: { ...brief, hidden_size: 16, depth: 1, num_heads: 2, patch_size: [1, 4, 4] },
  },
  wan: {
    autoencoder: { ...brief, vae_dim: 4, vae_dec_dim: 4, z_dim: 4 },
    denoiser: { ...brief, dim: 12, num_heads: 2, ffn_dim: 12, num_layers: 1, patch_size: [1, 1, 1] },
  },
  evac: {
    autoencoder: { ...brief, ch: 8, z_channels: 4, norm_num_groups: 4 },
    denoiser: {
      ...{ ...brief, model_channels: 32, context_dim: 32, clip_width: 16 },
      ...{ channel_mult: [1], attention_resolutions: [1], predictor_steps: 2, predictor_batch_size: 4 },
    },
  },
};

/** The file of a recipe, and the folder that it makes; JSON is YAML. */
function recipe(family: string, more: object = {}): { file: string; out: string } {
  const [file, out] = [join(folder, `${family}.yaml`), join(folder, family)];
  writeFileSync(file, JSON.stringify({ ...shared, family, out, ...sizes[family], ...more }));
  return { file, out };
}

/** What the command says. */
async function say(context: TestContext, ...argv: string[]): Promise<string> {
  const log = context.mock.method(console, "log", () => {});
  try {
    await worldCommand.run(["make", ...argv]);
    return log.mock.calls.map((call) => call.arguments.join(" ")).join("\n");
  } finally {
    log.mock.restore();
  }
}

const modified = (path: string): number => statSync(path).mtimeMs;

for (const family of Object.keys(sizes)) {
  test(`a recipe makes a whole ${family} world: recorded, trained twice, with starts and a report`, async (context) => {
    const { file, out } = recipe(family, { more: stage });
    const text = await say(context, file);
    assert.match(text, new RegExp(`use it with env\\.train\\.${family}_wm_hf_ckpt_path=`));
    assert.equal((await recognizeWorld(join(out, "world")))?.name, family);
    assert.ok(existsSync(join(out, "first")), "the world before its second training stays");
    for (const name of ["dataset", "truth.json", "taskemb_resnet_rm.pth"])
      assert.ok(existsSync(join(out, "world", name)), name);
    assert.equal(JSON.parse(readFileSync(join(out, "report", "truth.json"), "utf8")).episodes, 2);
  });
}

test("what is done is skipped, and said to be done; a second world in the same folder is refused", async (context) => {
  const { file, out } = recipe("opensora", { more: stage });
  const weights = join(out, "world", "model-00001.safetensors");
  const before = modified(weights);
  await assert.rejects(say(context, file), /was begun in .*--resume, or give another folder: out=DIR/);
  const plan = await say(context, file, "--dry-run");
  assert.match(plan, /record scripted +done/);
  assert.match(plan, /denoiser, more +done/);
  assert.match(plan, /record played +left out +the recipe asks for none/);
  assert.match(plan, /time: nothing is left to do/);
  await say(context, file, "--resume");
  assert.equal(modified(weights), before);
});

test("a training that was stopped goes on by --resume, to the same weights as one that was not", async (context) => {
  const whole = recipe("opensora").out;
  const { file } = recipe("opensora", { autoencoder: { ...sizes.opensora!.autoencoder, steps: 40 } });
  const [straight, stopped] = [join(folder, "straight"), join(folder, "stopped")];
  await say(context, file, `out=${straight}`, "~report.batch", "report.dreamt=0");
  const stop = setInterval(() => {
    if (
      existsSync(join(stopped, "make.json")) &&
      readFileSync(join(stopped, "make.json"), "utf8").includes("autoencoder")
    )
      process.emit("SIGTERM", "SIGTERM");
  }, 5);
  const said = await say(context, file, `out=${stopped}`, "~report.batch", "report.dreamt=0").finally(() =>
    clearInterval(stop),
  );
  process.exitCode = 0;
  assert.match(said, /stopped after \d+ of 40 steps; go on with: the same command and --resume/);
  assert.ok(!existsSync(join(stopped, "world", "vae")));
  assert.match(await say(context, file, `out=${stopped}`, "--dry-run"), /autoencoder +interrupted/);
  await say(context, file, `out=${stopped}`, "~report.batch", "report.dreamt=0", "--resume");
  const weights = (out: string): Buffer => readFileSync(join(out, "world", "model-00001.safetensors"));
  assert.deepEqual(weights(stopped), weights(straight));
  assert.notDeepEqual(weights(stopped), weights(whole));
});

test("a recording that was interrupted is made again, and others are not", async (context) => {
  const { file } = recipe("opensora");
  const [out, data] = [join(folder, "torn"), join(folder, "torn-data")];
  const here = [file, `out=${out}`, `data=${data}`, "autoencoder.lr=1e39", "autoencoder.lr_warmup_steps=0"];
  const untilAutoencoder = (...argv: string[]) => assert.rejects(say(context, ...argv), /the loss is NaN/);
  await untilAutoencoder(...here);
  rmSync(join(data, "tested", "dataset.json")); // as a recording that was killed leaves it
  const kept = modified(join(data, "scripted", "dataset.json"));
  assert.match(await say(context, ...here, "--dry-run"), /record scripted +done(.|\n)*record tested +to do/);
  await untilAutoencoder(...here, "--resume");
  assert.ok(existsSync(join(data, "tested", "dataset.json")));
  assert.equal(modified(join(data, "scripted", "dataset.json")), kept);
});

test("a plan counts time at the recipe's own rates, and says what was not measured and how much memory is certain", async (context) => {
  const rates = { measured: "a test", autoencoder: 2, denoiser: 0.5 };
  const { file } = recipe("wan", { rates });
  const plan = await say(
    context,
    file,
    `out=${join(folder, "nowhere")}`,
    `data=${join(folder, "no")}`,
    "--dry-run",
  );
  assert.match(plan, /autoencoder +to do +1\.0 s +2 steps of 4, from scripted/);
  assert.match(
    plan,
    /time: about 5\.0 s at the recipe's rates \(a test\), and record scripted, .*was not measured/,
  );
  assert.match(plan, /memory: at most 0\.00 GB for the pictures of 10 episodes/);
  assert.ok(!existsSync(join(folder, "nowhere")), "a dry run makes nothing");
});

test("without a policy what would need one is left out, and says so", async (context) => {
  const rounds = [{ recorded: { episodes: 2, seed: 41 }, denoiser: stage }];
  const { file } = recipe("evac", { rounds });
  const plan = await say(context, file, "--dry-run", "recordings.played={episodes: 2, seed: 12}");
  assert.match(plan, /record played +left out +the recipe names no policy/);
  assert.match(plan, /round 0 +left out +the recipe names no policy/);
});

test("every shipped recipe makes a plan, with the policy in its dream", async (context) => {
  const policy = fileURLToPath(new URL("../../../../checkpoints/openvla-oft-mini", import.meta.url));
  for (const name of ["opensora_tabletop_object", "wan_tabletop_object", "evac_tabletop_object"]) {
    const plan = await say(context, name, "--dry-run", `policy=${policy}`, `out=${join(folder, "nowhere")}`);
    assert.match(plan, /report, the policy in the dream +to do(.|\n)*time: about/, name);
  }
});

const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
  ["an unknown family", ["family=sora"], /family "sora" cannot be trained; these can/],
  ["an unknown suite", ["suite=kitchen"], /command line: suite: no suite named "kitchen"/],
  [
    "a misspelt setting",
    ["denoiser.stepz=3"],
    /there is no setting denoiser\.stepz; did you mean denoiser\.steps\?/,
  ],
  ["a misspelt block", ["denoizer.steps=3"], /there is no setting denoizer\.steps/],
  [
    "sizes that do not fit a round",
    ["rounds=[{denoiser: {depth: none}}]"],
    /rounds\.0\.denoiser: depth: .*found "none"/,
  ],
  ["a policy that is none", ["policy=nowhere"], /nowhere is no policy checkpoint/],
];

for (const [what, overrides, message] of refused) {
  test(`${what} is refused before anything is made`, async (context) => {
    const { file } = recipe("opensora");
    const out = join(folder, "refused");
    await assert.rejects(say(context, file, `out=${out}`, ...overrides), message);
    assert.ok(!existsSync(out));
  });
}

test("all mistakes of a recipe are said together, each with its line", async (context) => {
  const file = join(folder, "wrong.yaml");
  writeFileSync(file, "family: opensora\nsuite: 3\nrecordings:\n  steps: none\n");
  await assert.rejects(say(context, file), /wrong\.yaml:2: suite(.|\n)*wrong\.yaml:4: recordings\.steps/);
});

test("a training whose graphs cannot be captured is tried again without; a user's mistake or a CPU's is not", async (context) => {
  context.mock.method(console, "log", () => {});
  const seen: [unknown, boolean][] = [];
  const failing = (error: Error) => async (settings: Readonly<Record<string, unknown>>, resume: boolean) => {
    seen.push([settings.cuda_graph, resume]);
    if (settings.cuda_graph !== false) throw error;
    return true;
  };
  const on = (device: string) => ({ device, settings: { steps: 1 }, begun: false });
  assert.equal(await orWithoutGraphs("denoiser", on("cuda"), failing(new Error("no capture"))), true);
  assert.deepEqual(seen, [
    [undefined, false],
    [false, true],
  ]);
  await assert.rejects(orWithoutGraphs("denoiser", on("cuda"), failing(new UserError("lr"))), /lr/);
  await assert.rejects(
    orWithoutGraphs("denoiser", on("cpu"), failing(new Error("no capture"))),
    /no capture/,
  );
});
