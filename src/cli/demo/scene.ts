/**
 * The demonstration's MuJoCo scene: a three-joint arm over a table, with a few bodies that fall beside it.
 *
 * All of it is primitive shapes written here, so that it needs no files. Lengths in metres, colours by use.
 */
const colours = [
  "0.86 0.37 0.31 1",
  "0.95 0.72 0.25 1",
  "0.33 0.62 0.53 1",
  "0.31 0.47 0.71 1",
  "0.58 0.42 0.66 1",
];

/** The falling bodies: boxes, balls and cylinders in a spiral, each a little higher than the one before. */
function fallingBodies(count: number): string {
  const shapes = [
    'type="box" size=".03 .03 .03"',
    'type="sphere" size=".035"',
    'type="cylinder" size=".025 .035"',
  ];
  return Array.from({ length: count }, (_, i) => {
    const [x, y, z] = [0.22 * Math.cos(i * 2.4), 0.22 * Math.sin(i * 2.4), 0.2 + 0.09 * i];
    return `
      <body pos="${x.toFixed(3)} ${y.toFixed(3)} ${z.toFixed(3)}" euler="${10 * i} ${20 * i} 0">
        <freejoint/>
        <geom ${shapes[i % shapes.length]} rgba="${colours[i % colours.length]}" mass=".1"/>
      </body>`;
  }).join("");
}

export const demoScene = (bodies = 9): string => `
<mujoco model="demonstration">
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
  <default><geom friction=".8 .01 .001"/></default>
  <worldbody>
    <light pos="1 -1 2.2" dir="-.45 .45 -1" diffuse=".6 .6 .6"/>
    <camera name="front" pos="1.05 -.75 .75" xyaxes=".58 .81 0 -.36 .26 .90"/>
    <geom type="plane" size="3 3 .05" material="tiles"/>
    <geom type="cylinder" size=".09 .02" pos="0 0 .02" material="metal"/>
    <body pos="0 0 .04">
      <joint name="turn" axis="0 0 1" damping="2"/>
      <geom type="cylinder" fromto="0 0 0 0 0 .18" size=".045" material="metal"/>
      <body pos="0 0 .18">
        <joint name="shoulder" axis="0 1 0" damping="2"/>
        <geom type="sphere" size=".055" material="joint"/>
        <geom type="capsule" fromto="0 0 0 0 0 .28" size=".032" material="metal"/>
        <body pos="0 0 .28">
          <joint name="elbow" axis="0 1 0" damping="1"/>
          <geom type="sphere" size=".045" material="joint"/>
          <geom type="capsule" fromto="0 0 0 .24 0 0" size=".026" material="metal"/>
          <geom type="box" size=".02 .045 .02" pos=".26 0 0" material="joint"/>
        </body>
      </body>
    </body>${fallingBodies(bodies)}
  </worldbody>
  <actuator>
    <position name="turn" joint="turn" kp="40"/>
    <position name="shoulder" joint="shoulder" kp="60"/>
    <position name="elbow" joint="elbow" kp="30"/>
  </actuator>
</mujoco>`;
