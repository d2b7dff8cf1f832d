"""Walker2d as MJCF from BODY."""
import numpy as np
from mechanism import Mechanism

PARAMS = {"friction": (1.9, 0.5, 3.0), "damping": (0.1, 0.03, 0.4), "gear": (1.0, 0.6, 1.5), "armature": (0.01, 0.003, 0.05), "solref": (0.02, 0.008, 0.05), "dmax": (0.95, 0.5, 0.99)}

def leg(p, side):
    def joint(name, low, high, pos):
        return f'<joint name="{name}{side}" axis="0 -1 0" pos="{pos}" range="{low} {high}" damping="{p["damping"]}" armature="{p["armature"]}" limited="true"/>'
    return f"""<body pos="0 0 -.2">{joint('thigh', -2.62, 0, '0 0 0')}<geom type="capsule" size=".05 .225" pos="0 0 -.225" mass="4.06" friction=".9 .1 .1"/>
<body pos="0 0 -.7">{joint('leg', -2.62, 0, '0 0 .25')}<geom type="capsule" size=".04 .25" mass="2.78" friction=".9 .1 .1"/>
<body pos=".2 0 -.35">{joint('foot', -0.785, 0.785, '-.2 0 .1')}<geom type="capsule" size=".06 .1" pos="-.1 0 .1" euler="0 -1.5707963 0" mass="3.17" friction="{p['friction']} .1 .1"/></body></body></body>"""

def xml(p):
    names = [j + s for s in ("", "_left") for j in ("thigh", "leg", "foot")]
    motors = "".join(f'<motor joint="{n}" gear="{100 * p["gear"]}"/>' for n in names)
    return f"""<mujoco><compiler angle="radian" autolimits="true"/><option timestep="0.002" integrator="implicitfast" gravity="0 0 -9.81"/>
<default><geom contype="0" conaffinity="1" condim="3" solref="{p['solref']} 1" solimp="0.9 {p['dmax']} 0.001"/><motor ctrllimited="true" ctrlrange="-1 1"/></default>
<worldbody><geom type="plane" size="20 20 .125" contype="1" conaffinity="0" condim="3" friction=".7 .1 .1"/>
<body pos="0 0 1.25"><joint name="rootx" type="slide" axis="1 0 0" pos="0 0 -1.25"/><joint name="rootz" type="slide" axis="0 0 1" pos="0 0 -1.25" ref="1.25"/><joint name="rooty" axis="0 1 0"/>
<geom type="capsule" size=".05 .2" mass="3.67"/>{leg(p, '')}{leg(p, '_left')}</body></worldbody>
<actuator>{motors}</actuator></mujoco>"""

class Simulator:
    def __init__(self, params, rng):
        self.rng = rng
        self.body = Mechanism(xml(params))
    def obs(self):
        return np.concatenate([self.q[:, 1:], np.clip(self.v, -10, 10)], axis=1)
    def reset(self, n):
        self.q = self.rng.uniform(-0.005, 0.005, (n, 9)) + np.array([0, 1.25, 0, 0, 0, 0, 0, 0, 0])
        self.v = self.rng.uniform(-0.005, 0.005, (n, 9))
        return self.obs()
    def set(self, obs):
        self.q = np.concatenate([np.zeros((len(obs), 1)), obs[:, :8]], axis=1)
        self.v = obs[:, 8:].copy()
    def step(self, actions):
        x = self.q[:, 0]
        self.q, self.v, _ = self.body.step(self.q, self.v, actions, 4)
        ok = (self.q[:, 1] > 0.8) & (self.q[:, 1] < 2) & (np.abs(self.q[:, 2]) < 1)
        reward = (self.q[:, 0] - x) / 0.008 + ok - 0.001 * (actions ** 2).sum(axis=1)
        return self.obs(), reward, ~ok
