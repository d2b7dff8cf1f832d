"""HalfCheetah as MJCF from BODY."""
import numpy as np
from mechanism import Mechanism

PARAMS = {"friction": (0.4, 0.1, 1.5), "damping": (1.0, 0.5, 2.0), "gear": (1.0, 0.6, 1.5), "armature": (0.1, 0.03, 0.3), "solref": (0.02, 0.008, 0.05), "dmax": (0.8, 0.3, 0.98)}

def xml(p):
    d, g = p["damping"], p["gear"]
    def joint(name, axis, low, high, stiff, damp):
        return f'<joint name="{name}" axis="0 1 0" range="{low} {high}" stiffness="{stiff}" damping="{damp * d}"/>'
    def capsule(x, z, half, ax, az, m, r=0.046):
        return f'<geom type="capsule" size="{r}" fromto="{x - half * ax} 0 {z - half * az} {x + half * ax} 0 {z + half * az}" mass="{m}"/>'
    return f"""<mujoco><compiler angle="radian" autolimits="true"/><option timestep="0.01" gravity="0 0 -9.81"/>
<default><joint limited="true" type="hinge" armature="{p['armature']}" solreflimit="0.02 1" solimplimit="0 0.8 0.03"/>
<geom contype="0" conaffinity="1" condim="3" friction="{p['friction']} 0.1 0.1" solref="{p['solref']} 1" solimp="0 {p['dmax']} 0.01"/><motor ctrllimited="true" ctrlrange="-1 1"/></default>
<worldbody><geom name="floor" type="plane" size="40 40 1" pos="0 0 0" contype="1" conaffinity="0"/>
<body name="torso" pos="0 0 0.7">
<joint name="rootx" type="slide" axis="1 0 0" limited="false" armature="0" pos="0 0 0"/><joint name="rootz" type="slide" axis="0 0 1" limited="false" armature="0"/><joint name="rooty" axis="0 1 0" limited="false" armature="0"/>
{capsule(0, 0, 0.5, -1, 0, 4.8)}{capsule(0.6, 0.1, 0.15, 0.764, 0.645, 1.45)}
<body pos="-0.5 0 0">{joint('bthigh', 1, -0.52, 1.05, 240, 6)}{capsule(0.1, -0.13, 0.145, 0.612, -0.791, 1.54)}
<body pos="0.16 0 -0.25">{joint('bshin', 1, -0.785, 0.785, 180, 4.5)}{capsule(-0.14, -0.07, 0.15, -0.896, -0.443, 1.59)}
<body pos="-0.28 0 -0.14">{joint('bfoot', 1, -0.4, 0.785, 120, 3)}{capsule(0.03, -0.097, 0.094, -0.267, 0.964, 1.1)}</body></body></body>
<body pos="0.5 0 0">{joint('fthigh', 1, -1.0, 0.7, 180, 4.5)}{capsule(-0.07, -0.12, 0.133, 0.497, 0.868, 1.44)}
<body pos="-0.14 0 -0.24">{joint('fshin', 1, -1.2, 0.87, 120, 3)}{capsule(0.065, -0.09, 0.106, -0.565, 0.825, 1.2)}
<body pos="0.13 0 -0.18">{joint('ffoot', 1, -0.5, 0.5, 60, 1.5)}{capsule(0.045, -0.07, 0.07, -0.565, 0.825, 0.885)}</body></body></body>
</body></worldbody>
<actuator><motor joint="bthigh" gear="{120 * g}"/><motor joint="bshin" gear="{90 * g}"/><motor joint="bfoot" gear="{60 * g}"/><motor joint="fthigh" gear="{120 * g}"/><motor joint="fshin" gear="{60 * g}"/><motor joint="ffoot" gear="{30 * g}"/></actuator></mujoco>"""

class Simulator:
    def __init__(self, params, rng):
        self.rng = rng
        self.body = Mechanism(xml(params))
    def reset(self, n):
        self.q = self.rng.uniform(-0.1, 0.1, (n, 9))
        self.v = 0.1 * self.rng.standard_normal((n, 9))
        return np.concatenate([self.q[:, 1:], self.v], axis=1)
    def set(self, obs):
        self.q = np.concatenate([np.zeros((len(obs), 1)), obs[:, :8]], axis=1)
        self.v = obs[:, 8:].copy()
    def step(self, actions):
        x = self.q[:, 0]
        self.q, self.v, _ = self.body.step(self.q, self.v, actions, 5)
        reward = (self.q[:, 0] - x) / 0.05 - 0.1 * (actions ** 2).sum(axis=1)
        return np.concatenate([self.q[:, 1:], self.v], axis=1), reward, np.zeros(len(x), bool)
