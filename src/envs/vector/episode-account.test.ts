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

const play = (changed: Partial<EpisodeRules> = {}) => {
  const account = newAccount();
  const outcomes = course.map((success) => enterStep(account, success, { ...rules, ...changed }));
  return { account, outcomes, stats: episodeStats([account], { ...rules, ...changed }) };
};

test("relative rewards pay +coef for gaining success, nothing for holding it, -coef for losing it", () => {
  assert.deepEqual(
    play().outcomes.map(({ reward }) => reward),
    [0, 5, 0, -5, 5, 0],
  );
});

test("absolute rewards pay coef at every action while the goal holds", () => {
  assert.deepEqual(
    play({ use_rel_reward: false }).outcomes.map(({ reward }) => reward),
    [0, 5, 5, 0, 5, 5],
  );
});

test("a step penalty lowers the score by one before differences are taken", () => {
  const absolute = play({ use_rel_reward: false, use_step_penalty: true });
  assert.deepEqual(
    absolute.outcomes.map(({ reward }) => reward),
    [-1, 4, 4, -1, 4, 4],
  );
  const relative = play({ use_step_penalty: true });
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

test("termination follows the goal, truncation the clock", () => {
  const { outcomes } = play();
  assert.deepEqual(
    outcomes.map(({ terminated }) => terminated),
    course,
  );
  assert.deepEqual(
    outcomes.map(({ truncated }) => truncated),
    [false, false, false, false, false, true],
  );
});

test("with terminations ignored nothing terminates and the success at the end is logged", () => {
  const { outcomes, stats } = play({ ignore_terminations: true });
  assert.ok(outcomes.every(({ terminated }) => !terminated));
  assert.deepEqual([...stats.success_at_end!], [1]);
});

test("a failed episode's reward is its return over all its actions", () => {
  const account = newAccount();
  const penalised = { ...rules, use_rel_reward: false, use_step_penalty: true };
  for (let i = 0; i < 4; i++) enterStep(account, false, penalised);
  const stats = episodeStats([account], penalised);
  assert.deepEqual([...stats.return!, ...stats.reward!], [-4, -1]);
});
