"""The reference side of `parity libero python`: for each BDDL path on standard input, the scene that Python LIBERO
assembles and the states of two resets after a seed, as one JSON line."""

import contextlib
import json
import logging
import os
import sys

# robosuite and LIBERO greet on standard output, which belongs to the answers.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
logging.disable(logging.WARNING)
with contextlib.redirect_stdout(sys.stderr):
    from libero.libero.envs.env_wrapper import ControlEnv


def snapshot(env):
    model, data = env.sim.model._model, env.sim.data
    bodies = {name: env.obj_body_id[name] for name in env.fixtures_dict}
    poses = {name: [*model.body_pos[body], *model.body_quat[body]] for name, body in bodies.items()}
    return {"positions": data.qpos.tolist(), "fixtures": poses}


for line in sys.stdin:
    request = json.loads(line)
    env = ControlEnv(request["bddl"], use_camera_obs=False, has_offscreen_renderer=False)
    env.seed(request["seed"])
    resets = []
    for _ in range(2):
        env.reset()
        resets.append(snapshot(env.env))
    print(json.dumps({"xml": env.env.model.get_xml(), "resets": resets}), file=answers, flush=True)
    env.close()
