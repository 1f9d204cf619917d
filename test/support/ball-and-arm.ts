/** A small scene for this room's tests: a ball above a floor, a hinged arm with a motor, two cameras, a keyframe. */
export const ballAndArm = `
<mujoco model="ball and arm">
  <option timestep="0.002"/>
  <visual><global offwidth="64" offheight="64"/></visual>
  <asset>
    <texture name="checks" type="2d" builtin="checker" rgb1="1 1 1" rgb2="0.2 0.3 0.4" width="64" height="64"/>
    <material name="checks" texture="checks" texrepeat="4 4" reflectance="0.2"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <camera name="front" pos="0 -2 1" xyaxes="1 0 0 0 0.25 1"/>
    <camera name="top" pos="0 0 3"/>
    <geom name="floor" type="plane" size="2 2 0.1" material="checks"/>
    <body name="ball" pos="0 0 0.5">
      <freejoint name="ball"/>
      <geom name="ball" type="sphere" size="0.1" rgba="1 0 0 1"/>
    </body>
    <body name="arm" pos="0.5 0 0.5">
      <joint name="hinge" type="hinge" axis="0 1 0" damping="0.1"/>
      <geom name="arm" type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" rgba="0 0 1 1"/>
      <site name="tip" pos="0.4 0 0"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge" ctrlrange="-1 1" ctrllimited="true"/></actuator>
  <keyframe><key name="low" qpos="0 0 0.1 1 0 0 0 0.3"/></keyframe>
</mujoco>`;
