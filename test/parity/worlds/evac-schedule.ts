/** Compares EVAC's noise tables and DDIM factors with the recorded ones. */
import { type Tensor, tensor } from "#tensor";
import type { EvacWorld } from "../../../src/worlds/evac/evac-world.ts";
import { type DdimStep, ddimSteps, noiseTables } from "../../../src/worlds/evac/schedule.ts";
import { type Cases, get, type Recorded, tolerances } from "./case.ts";

export function compareSchedule(cases: Cases, world: EvacWorld, tables: Recorded): void {
  const ours = noiseTables(world.parts.sizes);
  const alphas = ours.alphasCumprod;
  const count = get(tables, "ddim_timesteps").numel;
  const steps = ddimSteps(ours, count, world.parts.eta).reverse();
  const column = (read: (step: DdimStep) => number): Tensor => tensor(steps.map(read), { dtype: "float64" });
  const check = (name: string, values: Tensor, tolerance: number): void =>
    cases.compare(`schedule ${name}`, values, get(tables, name), tolerance);
  check(
    "ddim_timesteps",
    column(({ timestep }) => timestep),
    tolerances.exact,
  );
  check("betas", tensor([...ours.betas]), tolerances.forward);
  check("alphas_cumprod", tensor([...alphas]), tolerances.forward);
  check("sqrt_alphas_cumprod", tensor(alphas.map(Math.sqrt)), tolerances.forward);
  check(
    "sqrt_one_minus_alphas_cumprod",
    tensor(alphas.map((alpha) => Math.sqrt(1 - alpha))),
    tolerances.forward,
  );
  check(
    "ddim_alphas",
    column(({ signal }) => signal ** 2),
    tolerances.forward,
  );
  check(
    "ddim_alphas_prev",
    column(({ previousSignal }) => previousSignal ** 2),
    tolerances.forward,
  );
  check(
    "ddim_sigmas",
    column(({ sigma }) => sigma),
    tolerances.forward,
  );
  const scales = steps.map(({ timestep }) => ours.scales[timestep]!);
  check("ddim_scale_arr", tensor(scales), tolerances.forward);
  check(
    "ddim_scale_arr_prev",
    tensor(steps.map(({ rescale }, i) => rescale * scales[i]!)),
    tolerances.forward,
  );
}
