"""A planar trunk with a driven wheel behind and a two-jointed leg in front, in MuJoCo."""

import tempfile
from pathlib import Path

import gymnasium as gym
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv

MODEL = """
<mujoco model="wheelleg">
  <compiler angle="radian" inertiafromgeom="true"/>
  <option timestep="0.004" integrator="implicitfast"/>
  <default>
    <joint damping="0.6" armature="0.02"/>
    <geom density="800" friction="0.9 0.1 0.1" condim="3"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="80 20 1" friction="1.0 0.1 0.1"/>
    <body name="trunk" pos="0 0 0.62">
      <joint name="x" type="slide" axis="1 0 0" damping="0" armature="0"/>
      <joint name="z" type="slide" axis="0 0 1" damping="0" armature="0" ref="0.62"/>
      <joint name="pitch" type="hinge" axis="0 1 0" damping="0" armature="0"/>
      <geom name="trunk" type="capsule" fromto="-0.4 0 0 0.4 0 0" size="0.06"/>
      <geom name="strut" type="capsule" fromto="-0.4 0 0 -0.4 0 -0.4" size="0.03"/>
      <geom name="mast" type="capsule" fromto="0.1 0 0 0.1 0 0.35" size="0.04"/>
      <body name="wheel" pos="-0.4 0 -0.42">
        <joint name="axle" type="hinge" axis="0 1 0" damping="0.05"/>
        <geom name="wheel" type="cylinder" fromto="0 -0.03 0 0 0.03 0" size="0.2" density="300"/>
      </body>
      <body name="thigh" pos="0.4 0 0">
        <joint name="hip" type="hinge" axis="0 1 0" range="-0.9 0.9" limited="true"/>
        <geom name="thigh" type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/>
        <body name="shin" pos="0 0 -0.3">
          <joint name="knee" type="hinge" axis="0 1 0" range="-0.1 1.8" limited="true"/>
          <geom name="shin" type="capsule" fromto="0 0 0 0 0 -0.3" size="0.035"/>
          <geom name="foot" type="sphere" pos="0 0 -0.3" size="0.05" friction="1.2 0.1 0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="axle" joint="axle" gear="8" ctrlrange="-1 1" ctrllimited="true"/>
    <motor name="hip" joint="hip" gear="60" ctrlrange="-1 1" ctrllimited="true"/>
    <motor name="knee" joint="knee" gear="45" ctrlrange="-1 1" ctrllimited="true"/>
  </actuator>
</mujoco>
"""


class WheelLeg(MujocoEnv):
    """Get forward on a wheel and a leg, over level ground, without falling.

    The reward is the trunk's speed forward in m/s, at most 4, plus 0.5 for each step upright, less 0.05 times the squared actions.
    An episode ends when the trunk's height leaves 0.35 .. 1.1 m or its pitch leaves -0.7 .. 0.7 rad, and after 1,000 steps of 0.02 s.
    """

    metadata = {"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"], "render_fps": 50}

    def __init__(self, **kwargs):
        space = gym.spaces.Box(-np.inf, np.inf, (11,), np.float64)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "wheelleg.xml"
            file.write_text(MODEL, encoding="utf-8")
            super().__init__(str(file), 5, observation_space=space, **kwargs)
        self.steps = 0

    def _observe(self):
        """Height, pitch, hip and knee angles; then speeds of x, z, pitch, axle, hip and knee; then whether the foot is down."""
        position, velocity = self.data.qpos, self.data.qvel
        foot = self.data.geom("foot").xpos[2] < 0.055
        return np.concatenate([position[[1, 2, 4, 5]], np.clip(velocity, -20, 20), [float(foot)]])

    def reset_model(self):
        self.steps = 0
        noise = self.np_random.uniform(-0.02, 0.02, self.model.nq)
        self.set_state(self.init_qpos + noise, self.np_random.uniform(-0.02, 0.02, self.model.nv))
        return self._observe()

    def step(self, action):
        action = np.clip(action, -1.0, 1.0)
        before = self.data.qpos[0]
        self.do_simulation(action, self.frame_skip)
        self.steps += 1
        speed = (self.data.qpos[0] - before) / self.dt
        height, pitch = self.data.qpos[1], self.data.qpos[2]
        upright = bool(0.35 < height < 1.1 and abs(pitch) < 0.7)
        reward = min(speed, 4.0) + 0.5 * upright - 0.05 * float(np.square(action).sum())
        return self._observe(), reward, not upright, self.steps >= 1000, {}
