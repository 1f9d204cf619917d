/**
 * Generalized advantage estimation.
 *
 * Schulman et al. 2015, https://arxiv.org/abs/1506.02438. A done flag cuts the sum: neither the next value
 * nor the next error crosses it. Without values it falls back to the undiscounted sum of rewards to come.
 */
import { noGrad, scope, stack, type Tensor } from "#tensor";
import type { Timeline } from "./timeline.ts";

export interface Estimate {
  readonly advantages: Tensor; // float32 [n, B]
  readonly returns: Tensor; // float32 [n, B]; what the critic should have said
}

export function gae({ rewards, dones, values }: Timeline, gamma: number, lambda: number): Estimate {
  return noGrad(() =>
    scope(() => {
      const steps = rewards.unbind(0);
      const alive = dones.logicalNot().float().unbind(0);
      const value = values?.unbind(0);
      const discount = value ? gamma : 1;
      const decay = value ? gamma * lambda : 1;
      const advantages: Tensor[] = [];
      let following: Tensor | undefined; // the advantage of the next step
      for (let t = steps.length - 1; t >= 0; t--) {
        const goesOn = alive[t + 1] as Tensor;
        let error = steps[t] as Tensor;
        if (value)
          error = error.add((value[t + 1] as Tensor).mul(goesOn).mul(discount)).sub(value[t] as Tensor);
        following = following ? error.add(goesOn.mul(following).mul(decay)) : error;
        advantages.push(following);
      }
      const line = stack(advantages.reverse());
      return { advantages: line, returns: values ? line.add(values.narrow(0, 0, steps.length)) : line };
    }),
  );
}
