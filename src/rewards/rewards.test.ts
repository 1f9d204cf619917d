import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeSafetensors } from "#formats";
import { UserError } from "#registry";
import { full, noGrad, type Tensor, zeros } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import {
  loadReward,
  ResnetReward,
  ResnetScorer,
  RewardModelEnsemble,
  TaskResnetReward,
  taskSentences,
} from "./index.ts";

const small = [4, 4, 4, 4] as const;
const pictures = (level: number): Tensor => full([2, 3, 32, 32], level);

/** Weights that are all zero but the last bias: the answer is then known. */
function known(bias: number): ResnetReward {
  const rewardModel = new ResnetReward(small);
  noGrad(() => {
    for (const [name, value] of rewardModel.network.namedParameters())
      if (!name.includes("bn")) value.zero_();
    rewardModel.network.net["7"].bias!.fill_(bias);
  });
  return rewardModel;
}

test("the answer is the sigmoid of the network's score, one per picture", () => {
  const answer = known(0).judge(pictures(0));
  assert.deepEqual(answer.toArray(), [0.5, 0.5]);
  assert.ok(Math.abs(Number(known(2).judge(pictures(0)).toArray()[0]) - 1 / (1 + Math.exp(-2))) < 1e-6);
});

test("pictures beyond [-1, 1] are judged as if cut off there", () => {
  const rewardModel = new ResnetReward(small);
  noGrad(() => {
    for (const [name, value] of rewardModel.network.namedParameters())
      if (value.ndim > 1 && !name.includes("bn")) value.fill_(0.05);
  });
  assert.deepEqual(rewardModel.judge(pictures(3)).toArray(), rewardModel.judge(pictures(1)).toArray());
});

test("a stored reward model of any width comes back from its file", () => {
  const path = join(mkdtempSync(join(tmpdir(), "reverie-reward-model-")), "resnet_rm.safetensors");
  writeSafetensors(path, known(1).state());
  const rewardModel = loadReward({ type: "ResnetRewModel", from_pretrained: path });
  assert.deepEqual(rewardModel.judge(pictures(0), []).toArray(), known(1).judge(pictures(0)).toArray());
  assert.throws(
    () => loadReward({ type: "TaskEmbedResnetRewModel", from_pretrained: path }),
    /not a reward network/,
  );
});

test("an unknown kind of reward model is answered with the known ones", () => {
  assert.throws(() => loadReward({ type: "Oracle", from_pretrained: "x.pth" }), /ResnetRM, ResnetRewModel/);
});

test("a task-aware reward model refuses a sentence it was not taught, naming those it was", () => {
  const rewardModel = new TaskResnetReward(["open the door"], {
    widths: small,
    tasks: 2,
    embedding: 4,
    hidden: 4,
  });
  assert.throws(
    () => rewardModel.judge(pictures(0), ["close the door", "open the door"]),
    /"close the door".*"open the door"/,
  );
  assert.throws(() => rewardModel.checkInstruction("fly"), UserError);
});

test("every LIBERO suite has ten tasks in alphabetical order", () => {
  for (const sentences of Object.values(taskSentences)) {
    assert.equal(sentences.length, 10);
    assert.deepEqual(sentences, [...sentences].sort());
  }
});

test("the scorer takes bytes in either layout and refuses floats beyond [0, 1]", () => {
  const scorer = new ResnetScorer({ arch: "resnet18", hidden: 4, imageSize: [32, 32], normalize: true });
  const last = zeros([1, 40, 40, 3], { dtype: "uint8" });
  assert.deepEqual(scorer.preprocess(last).shape, [1, 3, 32, 32]);
  assert.deepEqual(
    scorer.preprocess(last).toArray(),
    scorer.preprocess(last.permute([0, 3, 1, 2])).toArray(),
  );
  assert.throws(() => scorer.preprocess(pictures(2)), /\[0, 1\]/);
});

test("judges vote: the most suspicious, their mean, or the one in the middle", () => {
  const members = [-2, 0, 3, 1].map(known);
  const [low, , high, middle] = [-2, 0, 3, 1].map((bias) => 1 / (1 + Math.exp(-bias)));
  const vote = (how: "min" | "mean" | "median", of = members): number =>
    Number(new RewardModelEnsemble(of, how).judge(pictures(0), ["", ""]).toArray()[1]);
  assertClose(vote("min"), low!);
  assertClose(vote("mean"), (low! + 0.5 + high! + middle!) / 4);
  assertClose(vote("median"), 0.5); // of four, the lower of the middle two
  assertClose(vote("median", members.slice(1)), middle!);
});

test("an ensemble refuses what one of its judges was not taught, and lists every member's weights", () => {
  const taught = new TaskResnetReward(["open"], { widths: small, tasks: 1, embedding: 4, hidden: 4 });
  const ensemble = new RewardModelEnsemble([taught, known(0)], "min");
  assert.throws(() => ensemble.checkInstruction("close"), /not taught/);
  assert.equal(ensemble.state().size, taught.state().size + known(0).state().size);
});
