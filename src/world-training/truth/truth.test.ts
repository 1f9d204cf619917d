import assert from "node:assert/strict";
import { test } from "node:test";
import type { RewardModel } from "#rewards";
import { randn, stack, type Tensor, tensor, zeros } from "#tensor";
import type { Imagined, ImagineRequest, World, WorldMemory, WorldStart } from "#worlds";
import { tinyRecording } from "../../../test/support/tiny-recording.ts";
import { RecordedFrames } from "../frames/recorded-frames.ts";
import { measureTruth, outcomeRates } from "./truth.ts";
import { truthPlot } from "./truth-plot.ts";
import { RecordedTruth } from "./truth-source.ts";
import { truthTable } from "./truth-table.ts";

const frames = new RecordedFrames([tinyRecording(12, 16)], "cpu");
const options = { chunks: 2, batch: 5, threshold: 0.5, holdFrames: 1, seed: 0 };
const source = () => new RecordedTruth(frames, { episodes: 12, chunk: 8 });

/** Knows the recording by heart: what it imagines is what was recorded, with as much noise as asked for. */
class PerfectWorld implements World {
  readonly name = "perfect";
  readonly chunk = 8;
  readonly actionSize = 7;
  readonly imageSize = [16, 16] as const;
  readonly keyframes = 0;
  readonly needsPose = false;
  readonly #noise: number;
  #from = 0;

  constructor(noise = 0) {
    this.#noise = noise;
  }

  begin(starts: readonly WorldStart[]): WorldMemory[] {
    const first = this.#from;
    this.#from += starts.length;
    return starts.map((_, i) => ({ row: tensor(frames.episodes[first + i]!.first) }));
  }

  imagine({ memories }: ImagineRequest): Imagined {
    const rows = memories.map(({ row }) => Number(row!.item()));
    const pictures = rows.map((row) =>
      frames.pick(tensor(BigInt64Array.from({ length: this.chunk }, (_, c) => BigInt(row + c + 1)))),
    );
    const all = stack(pictures);
    return {
      memories: rows.map((row) => ({ row: tensor(row + this.chunk) })),
      frames: all.add(randn([...all.shape]).mul(this.#noise)),
      latents: all.transpose(1, 2),
    };
  }

  encodeFrames(all: Tensor): Tensor {
    return all.transpose(1, 2);
  }

  to(): void {}

  state(): ReadonlyMap<string, Tensor> {
    return new Map();
  }
}

/** Sees the square: right edge for the first task, lower edge for the second. */
const seeingModel: RewardModel = {
  name: "seeing",
  judge(pictures, instructions) {
    const bright = pictures.select(1, 0).gt(0.3).float();
    const edges = [bright.select(2, 15), bright.select(1, 15)].map((edge) =>
      edge.mean(1).gt(0.2).float().toArray().map(Number),
    );
    return tensor(instructions.map((sentence, i) => edges[sentence === "go right" ? 0 : 1]![i]!));
  },
  checkInstruction() {},
  to() {},
  state: () => new Map(),
};

test("a world that imagines the recording itself has no error, drift or false verdict", async () => {
  const report = await measureTruth(new PerfectWorld(), seeingModel, source(), options);
  assert.equal(report.episodes, 12);
  assert.ok(report.frames.every(({ psnr, ssim, drift }) => psnr > 59 && ssim > 0.9999 && drift! < 1e-5));
  assert.equal(report.frames.length, 16);
  assert.deepEqual(
    [report.agreement.share, report.falseSuccess.count, report.missedSuccess.count],
    [1, 0, 0],
  );
  assert.ok(report.trueSuccess.count > 0 && report.trueSuccess.count < 12);
  assert.equal(report.judge.real.auc, 1);
  assert.ok(report.tasks.every(({ gap }) => gap === 0));
  assert.equal(report.judgeAgreement.share, 1);
});

test("noise lowers PSNR and SSIM and is seen in the report's table and plot", async () => {
  const report = await measureTruth(new PerfectWorld(0.3), seeingModel, source(), options);
  assert.ok(report.firstChunkPsnr > 12 && report.firstChunkPsnr < 22, `${report.firstChunkPsnr} dB`);
  assert.ok(report.frames[0]!.ssim < 0.9);
  assert.match(
    truthTable(report),
    /agreement +\d+\.\d %.*\n.*false positives.*\n.*missed successes.*\n.*false success/,
  );
  const { svg, png } = await truthPlot(report);
  assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from("PNG")]);
  assert.match(svg, /PSNR, dB[\s\S]*SSIM/);
  assert.match(svg, /P\(dream success \| real failure\)[\s\S]*P\(dream failure \| real success\)/);
});

test("a reward model that always says yes is all false successes, and one that says no misses them all", async () => {
  const saying = (value: number): RewardModel => ({
    ...seeingModel,
    judge: (_, instructions) => tensor(instructions.map(() => value)),
  });
  const yes = await measureTruth(new PerfectWorld(), saying(1), source(), options);
  assert.equal(yes.falseSuccess.count, 12 - yes.trueSuccess.count);
  assert.equal(yes.dreamSuccess.share, 1);
  assert.equal(yes.falsePositive.share, 1);
  const no = await measureTruth(new PerfectWorld(), saying(0), source(), options);
  assert.equal(no.missedSuccess.share, 1);
  assert.ok(Number.isNaN(no.falseSuccess.share));
  assert.deepEqual([no.falsePositive.count, no.falsePositive.of], [0, 12 - no.trueSuccess.count]);
});

test("with the same world, a better policy has less false success and the same rates given the ground truth", () => {
  // Of 10 failures the world takes 3 for successes, of 10 successes it misses 2.
  const played = (failures: number, successes: number) => [
    ...Array.from({ length: failures }, (_, i) => ({
      task: 0,
      opinions: [Number(i % 10 < 3)],
      truth: false,
    })),
    ...Array.from({ length: successes }, (_, i) => ({
      task: 0,
      opinions: [Number(i % 10 >= 2)],
      truth: true,
    })),
  ];
  const [worse, better] = [outcomeRates(played(80, 20), 0.5, 1), outcomeRates(played(20, 80), 0.5, 1)];
  assert.deepEqual([worse.falsePositive.share, better.falsePositive.share], [0.3, 0.3]);
  assert.deepEqual([worse.missedSuccess.share, better.missedSuccess.share], [0.2, 0.2]);
  assert.equal(worse.falseSuccess.share, 24 / 40);
  assert.equal(better.falseSuccess.share, 6 / 70);
});

test("every recorded frame counts, also those after the last whole chunk, and none beyond the horizon", () => {
  const long = new RecordedFrames([tinyRecording(3, 13)], "cpu");
  const group = new RecordedTruth(long, { episodes: 3, chunk: 8 }).group(0, 3, 8);
  const counted = (actions: number): number[] =>
    group.truth(zeros([3, actions, 7])).map(({ frames, success }) => {
      assert.equal(frames.shape[0], success.length);
      return success.length;
    });
  assert.deepEqual(counted(16), [13, 13, 13]);
  assert.deepEqual(counted(8), [8, 8, 8]);
});

test("recordings too short for one chunk are an error that says so", () => {
  const short = new RecordedFrames([tinyRecording(3, 5)], "cpu");
  assert.throws(
    () => new RecordedTruth(short, { episodes: 3, chunk: 8 }),
    /no recorded episode has 8 actions/,
  );
});

test("a reward model that is wrong about the truth is told apart from a world that is", async () => {
  const turned: RewardModel = {
    ...seeingModel,
    judge: (...asked) =>
      seeingModel
        .judge(...asked)
        .neg()
        .add(1),
  };
  const { agreement, judgeAgreement } = await measureTruth(new PerfectWorld(), turned, source(), options);
  assert.ok(judgeAgreement.share < 1);
  assert.equal(judgeAgreement.share, agreement.share); // the world shows the ground truth
});
