"""Hopper as MJCF from BODY."""
import numpy as np
from mechanism import Mechanism

PARAMS = {"friction": (2.0, 0.5, 3.0), "damping": (1.0, 0.5, 2.0), "gear": (1.0, 0.6, 1.5), "armature": (1.0, 0.3, 3.0), "solref": (0.02, 0.008, 0.05), "dmax": (0.8, 0.3, 0.98)}

def xml(p):
    def joint(name, low, high, pos):
        return f'<joint name="{name}" axis="0 -1 0" pos="{pos}" range="{low} {high}" damping="{p["damping"]}" armature="{p["armature"]}" limited="true"/>'
    return f"""<mujoco><compiler angle="radian" autolimits="true"/><option timestep="0.002" integrator="RK4" gravity="0 0 -9.81"/>
<default><geom contype="0" conaffinity="1" condim="1" solref="{p['solref']} 1" solimp="{p['dmax']} {p['dmax']} 0.01"/><motor ctrllimited="true" ctrlrange="-1 1"/></default>
<worldbody><geom type="plane" size="20 20 .125" contype="1" conaffinity="0" condim="3" friction="1 .1 .1"/>
<body pos="0 0 1.25"><joint name="rootx" type="slide" axis="1 0 0" pos="0 0 -1.25"/><joint name="rootz" type="slide" axis="0 0 1" pos="0 0 -1.25" ref="1.25"/><joint name="rooty" axis="0 1 0"/>
<geom type="capsule" size=".05 .2" mass="3.67"/>
<body pos="0 0 -.2">{joint('thigh', -2.62, 0, '0 0 0')}<geom type="capsule" size=".05 .225" pos="0 0 -.225" mass="4.06"/>
<body pos="0 0 -.7">{joint('leg', -2.62, 0, '0 0 .25')}<geom type="capsule" size=".04 .25" mass="2.78"/>
<body pos=".13 0 -.35">{joint('foot', -0.785, 0.785, '-.13 0 .1')}<geom type="capsule" size=".06 .195" pos="-.065 0 .1" euler="0 -1.5707963 0" mass="5.32" friction="{p['friction']} .1 .1"/></body></body></body></body></worldbody>
<actuator><motor joint="thigh" gear="{200 * p['gear']}"/><motor joint="leg" gear="{200 * p['gear']}"/><motor joint="foot" gear="{200 * p['gear']}"/></actuator></mujoco>"""

class Simulator:
    def __init__(self, params, rng):
        self.rng = rng
        self.body = Mechanism(xml(params))
    def obs(self):
        return np.concatenate([self.q[:, 1:], np.clip(self.v, -10, 10)], axis=1)
    def reset(self, n):
        self.q = self.rng.uniform(-0.005, 0.005, (n, 6)) + np.array([0, 1.25, 0, 0, 0, 0])
        self.v = self.rng.uniform(-0.005, 0.005, (n, 6))
        return self.obs()
    def set(self, obs):
        self.q = np.concatenate([np.zeros((len(obs), 1)), obs[:, :5]], axis=1)
        self.v = obs[:, 5:].copy()
    def step(self, actions):
        x = self.q[:, 0]
        self.q, self.v, _ = self.body.step(self.q, self.v, actions, 4)
        rest = np.concatenate([self.q[:, 2:], self.v], axis=1)
        ok = (np.abs(rest).max(axis=1) < 100) & (self.q[:, 1] > 0.7) & (np.abs(self.q[:, 2]) < 0.2)
        reward = (self.q[:, 0] - x) / 0.008 + ok - 0.001 * (actions ** 2).sum(axis=1)
        return self.obs(), reward, ~ok
