/** `--device` of any command: what it names, and that this machine has it. */
import { UserError } from "#registry";
import { cudaAvailable, type Device } from "#tensor";

export function deviceOf(name: string): Device {
  if (!/^(cpu|cuda(:\d+)?)$/.test(name))
    throw new UserError(`--device is "${name}"; expected cpu, cuda or cuda:1`);
  if (name !== "cpu" && !cudaAvailable())
    throw new UserError(
      `--device ${name}: no GPU answers here, or this build has no CUDA; reverie doctor says more`,
    );
  return name as Device;
}
