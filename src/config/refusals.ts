/**
 * What RLinf's files ask for and this system does not do, in the words of the method, with what to do instead: a bare
 * "no such setting" would send the reader looking for a spelling mistake.
 */
import type { Problem } from "./problem.ts";

interface Refusal {
  readonly path: RegExp;
  /** In the message that a schema or registry made; absent: whatever it says. */
  readonly says?: RegExp;
  readonly instead: string;
}

const inStep =
  "Here each training step learns from episodes of the newest policy: set algorithm.loss_type=actor_critic and take " +
  "staleness_threshold, behave_weight_threshold and rollout_store_size_per_rank out; the rest of the file stays";

const refusals: readonly Refusal[] = [
  {
    path: /^algorithm\.loss_type$/,
    says: /"decoupled_actor_critic"/,
    instead: `decoupled_actor_critic is asynchronous PPO, which learns from episodes of older policies while new ones are played. ${inStep}`,
  },
  {
    path: /^algorithm\.(staleness_threshold|behave_weight_threshold|rollout_store_size_per_rank)$/,
    instead: "belongs to asynchronous PPO, which is not here; take it out (see algorithm.loss_type)",
  },
  {
    path: /^algorithm\.(adv_type|loss_type)$/,
    says: /"(embodied_sac|embodied_dagger|embodied_nft|rlt_ac|rlt_td3|opd|reinpp|grpo_video|grpo_dynamic|raw)"/,
    instead:
      "is a method of RLinf that is not here (off-policy, imitation or for text); `reverie list algorithms` names those that are, " +
      "each with its loss_type",
  },
  {
    path: /^(runner\.rtc|actor\.model\.openpi\.rtc_enabled)$/,
    instead:
      "is real-time chunking, where a robot moves on while the policy thinks; simulators wait for the policy here. Take runner.rtc out and set " +
      "actor.model.openpi.rtc_enabled=False",
  },
];

/** The problem in the words of the refused method, where it is one. */
export function explained(problem: Problem): Problem {
  const found = refusals.find(
    ({ path, says }) => path.test(problem.path) && (says?.test(problem.message) ?? true),
  );
  return found ? { ...problem, message: found.instead } : problem;
}
