"""The reference side of `npm run bench -- libero`: Python LIBERO as its users run it, one JSON request a line.

Times are CPU seconds of this process (user + system), so that other work on the machine does not count.
"""

import contextlib
import json
import logging
import os
import sys
import time

os.environ.setdefault("MUJOCO_GL", "egl")
os.environ.setdefault("PYOPENGL_PLATFORM", "egl")

# robosuite and LIBERO greet on standard output, which belongs to the answers.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import numpy as np

logging.disable(logging.WARNING)
with contextlib.redirect_stdout(sys.stderr):
    from libero.libero.envs import OffScreenRenderEnv
    from libero.libero.envs.env_wrapper import ControlEnv


def make(request):
    if request["camera"]:
        return OffScreenRenderEnv(
            bddl_file_name=request["bddl"], camera_names=["agentview"], camera_heights=256, camera_widths=256
        )
    return ControlEnv(
        bddl_file_name=request["bddl"], use_camera_obs=False, has_offscreen_renderer=False, ignore_done=True
    )


def timed(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main():
    env = None
    for line in sys.stdin:
        request = json.loads(line)
        kind = request["kind"]
        reply = {}
        if kind == "make":
            if env is not None:
                env.close()
            np.random.seed(request["seed"])
            env = make(request)
        elif kind == "reset":

            def reset():
                env.reset()
                env.set_init_state(np.array(request["state"]))

            reply["seconds"] = timed(reset)
        elif kind == "step":
            actions = np.array(request["actions"])

            def steps():
                for action in actions:
                    env.step(action)

            reply["seconds"] = timed(steps)
            reply["qpos"] = [float(q) for q in env.env.sim.data.qpos]
        else:
            raise ValueError(f"unknown request {kind}")
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


main()
os._exit(0)  # without the destructors: EGL is already gone when they run, and they say so at length
