import assert from "node:assert/strict";
import { test } from "node:test";
import { type EpisodeRules, enterStep, episodeStats, newAccount } from "./episode-account.ts";

const rules: EpisodeRules = {
  reward_coef: 5,
  use_rel_reward: true,
  use_step_penalty: false,
  ignore_terminations: false,
  max_episode_steps: 6,
};
/** Success gained at the second action, held, lost, gained again. */
const course = [false, true, true, false, true, true];

const play = (changed: Partial<EpisodeRules> = {}, successes = course) => {
  const account = newAccount();
  const outcomes = successes.map((success) => enterStep(account, success, { ...rules, ...changed }));
  return { account, outcomes, stats: episodeStats([account], { ...rules, ...changed }) };
};

test("relative rewards pay +coef for gaining success, nothing for holding it, -coef for losing it", () => {
  assert.deepEqual(
    play({ ignore_terminations: true }).outcomes.map(({ reward }) => reward),
    [0, 5, 0, -5, 5, 0],
  );
});

test("absolute rewards pay coef at every action while the goal holds", () => {
  assert.deepEqual(
    play({ use_rel_reward: false, ignore_terminations: true }).outcomes.map(({ reward }) => reward),
    [0, 5, 5, 0, 5, 5],
  );
});

test("a step penalty lowers the score by one before differences are taken", () => {
  const going = { ignore_terminations: true, use_step_penalty: true };
  const absolute = play({ ...going, use_rel_reward: false });
  assert.deepEqual(
    absolute.outcomes.map(({ reward }) => reward),
    [-1, 4, 4, -1, 4, 4],
  );
  const relative = play(going);
  assert.deepEqual(
    relative.outcomes.map(({ reward }) => reward),
    [-1, 5, 0, -5, 5, 0],
  );
});

test("the logged return stops at the first success, and reward divides it by the length until then", () => {
  const { stats } = play();
  assert.deepEqual([...stats.return!], [5]);
  assert.deepEqual([...stats.reward!], [2.5]);
  assert.deepEqual([...stats.episode_len!], [6]);
  assert.deepEqual([...stats.success_once!], [1]);
  assert.equal("success_at_end" in stats, false);
});

test("an episode that succeeded is over: what its chunk still plays earns nothing and takes nothing back", () => {
  const { outcomes } = play();
  assert.deepEqual(
    outcomes.map(({ reward }) => reward),
    [0, 5, 0, 0, 0, 0],
  );
  assert.deepEqual(
    outcomes.map(({ terminated }) => terminated),
    [false, true, true, true, true, true],
  );
  assert.deepEqual(
    outcomes.map(({ truncated }) => truncated),
    [false, false, false, false, false, true],
  );
});

test("a success after time ran out, later in the same chunk, is none", () => {
  for (const ignore_terminations of [false, true]) {
    const late = [false, false, false, false, true, true];
    const { outcomes, stats } = play({ max_episode_steps: 4, ignore_terminations }, late);
    assert.ok(outcomes.every(({ reward, terminated }) => reward === 0 && !terminated));
    assert.deepEqual(
      outcomes.map(({ truncated }) => truncated),
      [false, false, false, true, true, true],
    );
    assert.deepEqual([stats.success_once![0], stats.return![0]], [0, 0]);
    if (ignore_terminations) assert.equal(stats.success_at_end![0], 0);
  }
});

test("with terminations ignored nothing terminates and the success at the end is logged", () => {
  const { outcomes, stats } = play({ ignore_terminations: true });
  assert.ok(outcomes.every(({ terminated }) => !terminated));
  assert.deepEqual([...stats.success_at_end!], [1]);
});

test("a failed episode's reward is its return over all its actions", () => {
  const account = newAccount();
  const penalized = { ...rules, use_rel_reward: false, use_step_penalty: true };
  for (let i = 0; i < 4; i++) enterStep(account, false, penalized);
  const stats = episodeStats([account], penalized);
  assert.deepEqual([...stats.return!, ...stats.reward!], [-4, -1]);
});
