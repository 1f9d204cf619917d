/** Numbers from inside π0: pixels, vision, prefix and suffix embeddings, the language model's answer, velocity. */
import type { ForwardInputs } from "#data";
import { full, noGrad, scope, tensor } from "#tensor";
import type { Pi0Policy } from "../../../src/policies/pi0/pi0-policy.ts";
import type { Check } from "./pi0.ts";
import type { Pi0Case } from "./pi0-case.ts";

/** Where the reference probed the velocity: x is the first draw. */
const probeTime = 0.75;

export function comparePi0Inside(it: Pi0Case, policy: Pi0Policy, inputs: ForwardInputs, check: Check): void {
  const { module, device } = policy;
  const towers = module.paligemma_with_expert;
  scope(() =>
    noGrad(() => {
      const fed = policy.prefix(inputs, true);
      const base = fed.pixels_BNCSS.select(1, 0);
      check("pixel_base", () => base, "pixels");
      const { vision_model } = towers.paligemma.model.vision_tower;
      check("vision_last_hidden", () => vision_model.forward(base), "features");
      check("image_features", () => towers.see(base), "features");
      const prefix = module.embedPrefix(fed);
      check("prefix_embs", () => prefix.embeddings_BPD, "features");
      check("prefix_pad_masks", () => prefix.mask_BP, "exact");
      check(
        "prefix_output",
        () => towers.remember(prefix, { whole: true, trained: false }).output_BPD!,
        "features",
      );

      const x = it.inputs.get("noise_draws")!.select(0, 0).to({ device });
      const time = full([x.size(0)], probeTime, { device });
      const { memory, state_BA } = policy.scene(inputs);
      const suffix = module.embedSuffix(state_BA, x, time);
      check("suffix_embs", () => suffix.embeddings_BSD, "features");
      if (suffix.condition_BD) check("adarms_cond", () => suffix.condition_BD!, "features");
      const flags = module.blockFlags();
      check(
        "suffix_att_masks",
        () =>
          tensor(flags)
            .expand([x.size(0), flags.length])
            .contiguous(),
        "exact",
      );
      const answers = module.think(memory, state_BA, x, time);
      check("suffix_out_probe", () => answers, "features");
      check("velocity_probe", () => module.velocity(answers), "features");
    }),
  );
}
