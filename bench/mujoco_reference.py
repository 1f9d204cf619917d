"""The reference side of `npm run bench -- mujoco`: Python MuJoCo doing what ours does, one JSON request a line.

Times are CPU seconds of this process (user + system), so that other work on the machine does not count.
"""

import base64
import json
import os
import sys
import time

os.environ.setdefault("MUJOCO_GL", "egl")

import mujoco
import numpy as np


class World:
    """One model and its data, controlled from a file of doubles."""

    def __init__(self, xml):
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)
        self.drawing = None

    def start(self, state, fixtures):
        m, d = self.model, self.data
        mujoco.mj_resetData(m, d)
        for name, pose in fixtures.items():
            m.body(name).pos[:] = pose["pos"]
            m.body(name).quat[:] = pose["quat"]
        d.time = state[0]
        d.qpos[:] = state[1 : 1 + m.nq]
        d.qvel[:] = state[1 + m.nq :]
        mujoco.mj_forward(m, d)

    def replay(self, controls):
        """Seconds for all physics steps with the given controls [n, nu], and the positions after each."""
        m, d = self.model, self.data
        out = np.empty((len(controls), m.nq))
        begin = time.process_time()
        for row, control in zip(out, controls):
            d.ctrl[:] = control
            mujoco.mj_step(m, d)
            row[:] = d.qpos
        return time.process_time() - begin, out

    def step(self, count):
        m, d = self.model, self.data
        begin = time.process_time()
        for _ in range(count):
            mujoco.mj_step(m, d)
        return time.process_time() - begin

    def prepare_drawing(self, width, height):
        from mujoco.egl import GLContext

        self.size = (width, height)
        self.gl = GLContext(width, height)
        self.gl.make_current()
        self.scene = mujoco.MjvScene(self.model, 1000)
        self.option = mujoco.MjvOption()
        self.option.geomgroup[0] = 0
        self.option.geomgroup[1] = 1
        self.camera = mujoco.MjvCamera()
        self.drawing = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_150)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self.drawing)
        self.pixels = np.empty((height, width, 3), dtype=np.uint8)

    def render(self, camera):
        self.camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self.camera.fixedcamid = self.model.camera(camera).id
        mujoco.mjv_updateScene(
            self.model, self.data, self.option, None, self.camera, mujoco.mjtCatBit.mjCAT_ALL, self.scene
        )
        rect = mujoco.MjrRect(0, 0, *self.size)
        mujoco.mjr_render(rect, self.scene, self.drawing)
        mujoco.mjr_readPixels(self.pixels, None, rect, self.drawing)
        return self.pixels


def answer(world, request):
    kind = request["kind"]
    if kind == "load":
        with open(request["xml"]) as file:
            return World(file.read()), {}
    if kind == "start":
        world.start(np.array(request["state"]), request["fixtures"])
        return world, {}
    if kind == "replay":
        controls = np.fromfile(request["controls"]).reshape(-1, world.model.nu)
        seconds, positions = world.replay(controls)
        positions.tofile(request["out"])
        return world, {"seconds": seconds}
    if kind == "step":
        return world, {"seconds": world.step(request["count"])}
    if kind == "render":
        if world.drawing is None:
            world.prepare_drawing(request["width"], request["height"])
        begin = time.process_time()
        for _ in range(request["count"]):
            pixels = world.render(request["camera"])
        seconds = time.process_time() - begin
        return world, {"seconds": seconds, "pixels": base64.b64encode(pixels.tobytes()).decode()}
    raise ValueError(f"unknown request {kind}")


world = None
for line in sys.stdin:
    world, reply = answer(world, json.loads(line))
    print(json.dumps(reply), flush=True)
