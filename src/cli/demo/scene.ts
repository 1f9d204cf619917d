/**
 * The demonstration's MuJoCo scene: a three-joint arm, a ball to reach for, and a few bodies that fall behind it.
 *
 * All of it is primitive shapes written here, so that it needs no files. Lengths in meters, angles in radians.
 */
const colors = [
  "0.86 0.37 0.31 1",
  "0.95 0.72 0.25 1",
  "0.33 0.62 0.53 1",
  "0.31 0.47 0.71 1",
  "0.58 0.42 0.66 1",
];
const shapes = [
  'type="box" size=".03 .03 .03"',
  'type="sphere" size=".035"',
  'type="cylinder" size=".025 .035"',
];

/** Boxes, balls and cylinders in a spiral behind the arm, each a little higher than the one before. */
function fallingBodies(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const [x, y, z] = [0.1 * Math.cos(i * 2.4) - 0.32, 0.16 * Math.sin(i * 2.4), 0.15 + 0.08 * i];
    return `
    <body pos="${x.toFixed(3)} ${y.toFixed(3)} ${z.toFixed(3)}" euler="${0.2 * i} ${0.4 * i} 0">
      <freejoint/>
      <geom ${shapes[i % shapes.length]} rgba="${colors[i % colors.length]}" mass=".1"/>
    </body>`;
  }).join("");
}

const arm = `
    <geom type="cylinder" size=".09 .02" pos="0 0 .02" material="metal"/>
    <body pos="0 0 .04" gravcomp="1">
      <joint name="turn" axis="0 0 1" damping="2"/>
      <geom type="cylinder" fromto="0 0 0 0 0 .18" size=".045" material="metal"/>
      <body pos="0 0 .18" gravcomp="1">
        <joint name="shoulder" axis="0 1 0" damping="2"/>
        <geom type="sphere" size=".055" material="joint"/>
        <geom type="capsule" fromto="0 0 0 0 0 .28" size=".032" material="metal"/>
        <body pos="0 0 .28" gravcomp="1">
          <joint name="elbow" axis="0 1 0" damping="1"/>
          <geom type="sphere" size=".045" material="joint"/>
          <geom type="capsule" fromto="0 0 0 .22 0 0" size=".024" material="metal"/>
          <geom type="cylinder" fromto=".22 0 0 .25 0 0" size=".018" material="joint"/>
          <site name="tip" pos=".27 0 0" size=".004"/>
        </body>
      </body>
    </body>`;

export const demoScene = (bodies = 9): string => `
<mujoco model="demonstration">
  <compiler angle="radian"/>
  <visual>
    <headlight ambient=".35 .35 .35" diffuse=".45 .45 .45" specular=".1 .1 .1"/>
    <quality shadowsize="2048"/>
    <global offwidth="1280" offheight="960"/>
  </visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1=".80 .87 .94" rgb2=".97 .98 1" width="256" height="256"/>
    <texture name="tiles" type="2d" builtin="checker" rgb1=".88 .87 .84" rgb2=".80 .79 .76" width="256" height="256"/>
    <material name="tiles" texture="tiles" texrepeat="12 12" reflectance=".08"/>
    <material name="metal" rgba=".30 .33 .38 1" specular=".6" shininess=".5"/>
    <material name="joint" rgba=".92 .93 .95 1" specular=".6" shininess=".5"/>
  </asset>
  <worldbody>
    <light pos="1 -1 2.2" dir="-.45 .45 -1" diffuse=".6 .6 .6"/>
    <camera name="front" pos=".95 -.95 .75" xyaxes=".71 .71 0 -.32 .32 .89"/>
    <geom type="plane" size="3 3 .05" material="tiles"/>
    <body name="ball" mocap="true" pos=".3 0 .3">
      <geom type="sphere" size=".022" contype="0" conaffinity="0" rgba=".86 .20 .25 1"/>
    </body>${arm}${fallingBodies(bodies)}
  </worldbody>
  <actuator>
    <position joint="turn" kp="40"/>
    <position joint="shoulder" kp="60"/>
    <position joint="elbow" kp="30"/>
  </actuator>
</mujoco>`;
