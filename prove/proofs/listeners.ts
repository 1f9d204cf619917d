/** Nothing listens outside loopback while a run of several ranks, with env workers, trains on this machine. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tinyCheckpoint, tinyOverrides } from "../../test/support/tiny-run.ts";
import { type Listener, openListeners } from "../open-listeners.ts";
import { Checks, type Proof } from "../proof.ts";
import { descendants, RunningCommand } from "../running-command.ts";

const ranks = 2;

export const proof: Proof = {
  claim: "A run of several ranks on one machine opens no port that another machine could reach.",
  goal: "0 listeners outside 127.0.0.1 and ::1",
  minutes: 1,
  async run(say) {
    const checks = new Checks(say);
    const logs = mkdtempSync(join(tmpdir(), "reverie-listeners-"));
    const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
    const command = RunningCommand.reverie(
      "train",
      "tabletop_spatial_grpo_openvlaoft_mini",
      ...tinyOverrides({ model, logs, steps: 3 }),
      "env.train.env_workers=1",
      `cluster.simulated_devices=${ranks}`,
      "cluster.component_placement={env: 0, rollout: 0, actor: all}",
    );
    const seen = new Map<string, Listener>();
    let looks = 0;
    try {
      while (!command.isOver) {
        looks++;
        const pids = [command.pid, ...descendants(command.pid)];
        for (const listener of openListeners(pids)) seen.set(listener.address, listener);
        await new Promise((resume) => setTimeout(resume, 50));
      }
      const { by, text } = await command.ended;
      checks.check(`a run of ${ranks} ranks took its 3 steps`, by === 0, text.slice(-500));
    } finally {
      command.destroy();
      rmSync(logs, { recursive: true, force: true });
      rmSync(model, { recursive: true, force: true });
    }
    const outside = [...seen.values()].filter(({ isLoopback }) => !isLoopback);
    say(`looked ${looks} times, saw: ${[...seen.keys()].join(", ") || "no listener"}`);
    checks.check("the ranks' own sockets were seen", seen.size >= ranks, `${seen.size}`);
    checks.check(
      "none is outside loopback",
      outside.length === 0,
      outside.map((one) => one.address).join(", "),
    );
    return {
      ...checks.outcome(),
      figure: `${outside.length} listeners outside loopback of ${seen.size} seen`,
    };
  },
};
