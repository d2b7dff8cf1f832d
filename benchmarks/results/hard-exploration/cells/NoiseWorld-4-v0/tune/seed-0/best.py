"""Policy for benchmarks.environments:promptpo/NoiseWorld-4-v0, written by program search (no language model).

Held-out mean return -100 (95 % interval -100 to -100; 30 episodes, seeds 20000000 to 20000029).
Candidate r1c1 of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Every output is a weighted sum of the observation's numbers; a comparison or a limit makes it an
action.

Written by program search, without a language model.
Structure: linear
"""
import math

import numpy as np

PARAMS = {
    "out0": (0.0, -1.0, 1.0),
    "out0_x6": (0.0, -1.0, 1.0),
    "out0_x8": (0.0, -1.0, 1.0),
    "out0_x10": (0.0, -1.0, 1.0),
    "out0_x11": (0.0, -1.0, 1.0),
    "out0_x20": (0.0, -1.0, 1.0),
    "out0_x21": (0.0, -1.0, 1.0),
    "out0_x22": (0.0, -1.0, 1.0),
    "out0_x23": (0.0, -1.0, 1.0),
    "out0_x27": (0.0, -1.0, 1.0),
    "out0_x28": (0.0, -1.0, 1.0),
    "out0_x33": (0.0, -1.0, 1.0),
    "out0_x34": (0.0, -1.0, 1.0),
    "out0_x36": (0.0, -1.0, 1.0),
    "out0_x37": (0.0, -1.0, 1.0),
    "out0_x40": (0.0, -1.0, 1.0),
    "out0_x41": (0.0, -1.0, 1.0),
    "out0_x42": (0.0, -1.0, 1.0),
    "out0_x46": (0.0, -1.0, 1.0),
    "out0_x48": (0.0, -1.0, 1.0),
    "out0_x51": (0.0, -1.0, 1.0),
    "out0_x56": (0.0, -1.0, 1.0),
    "out0_x66": (0.0, -1.0, 1.0),
    "out0_x72": (0.0, -1.0, 1.0),
    "out0_x73": (0.0, -1.0, 1.0),
    "out0_x74": (0.0, -1.0, 1.0),
    "out0_x75": (0.0, -1.0, 1.0),
    "out0_x77": (0.0, -1.0, 1.0),
    "out0_x78": (0.0, -1.0, 1.0),
    "out0_x80": (0.0, -1.0, 1.0),
    "out0_x81": (0.0, -1.0, 1.0),
    "out0_x88": (0.0, -1.0, 1.0),
    "out0_x90": (0.0, -1.0, 1.0),
    "out0_x92": (0.0, -1.0, 1.0),
    "out0_x94": (0.0, -1.0, 1.0),
    "out0_x95": (0.0, -1.0, 1.0),
    "out0_x97": (0.0, -1.0, 1.0),
    "out0_x99": (0.0, -1.0, 1.0),
    "out0_x100": (0.0, -1.0, 1.0),
    "out0_x101": (0.0, -1.0, 1.0),
    "out0_x103": (0.0, -1.0, 1.0),
    "out1": (0.0, -1.0, 1.0),
    "out1_x6": (0.0, -1.0, 1.0),
    "out1_x8": (0.0, -1.0, 1.0),
    "out1_x10": (0.0, -1.0, 1.0),
    "out1_x11": (0.0, -1.0, 1.0),
    "out1_x20": (0.0, -1.0, 1.0),
    "out1_x21": (0.0, -1.0, 1.0),
    "out1_x22": (0.0, -1.0, 1.0),
    "out1_x23": (0.0, -1.0, 1.0),
    "out1_x27": (0.0, -1.0, 1.0),
    "out1_x28": (0.0, -1.0, 1.0),
    "out1_x33": (0.0, -1.0, 1.0),
    "out1_x34": (0.0, -1.0, 1.0),
    "out1_x36": (0.0, -1.0, 1.0),
    "out1_x37": (0.0, -1.0, 1.0),
    "out1_x40": (0.0, -1.0, 1.0),
    "out1_x41": (0.0, -1.0, 1.0),
    "out1_x42": (0.0, -1.0, 1.0),
    "out1_x46": (0.0, -1.0, 1.0),
    "out1_x48": (0.0, -1.0, 1.0),
    "out1_x51": (0.0, -1.0, 1.0),
    "out1_x56": (0.0, -1.0, 1.0),
    "out1_x66": (0.0, -1.0, 1.0),
    "out1_x72": (0.0, -1.0, 1.0),
    "out1_x73": (0.0, -1.0, 1.0),
    "out1_x74": (0.0, -1.0, 1.0),
    "out1_x75": (0.0, -1.0, 1.0),
    "out1_x77": (0.0, -1.0, 1.0),
    "out1_x78": (0.0, -1.0, 1.0),
    "out1_x80": (0.0, -1.0, 1.0),
    "out1_x81": (0.0, -1.0, 1.0),
    "out1_x88": (0.0, -1.0, 1.0),
    "out1_x90": (0.0, -1.0, 1.0),
    "out1_x92": (0.0, -1.0, 1.0),
    "out1_x94": (0.0, -1.0, 1.0),
    "out1_x95": (0.0, -1.0, 1.0),
    "out1_x97": (0.0, -1.0, 1.0),
    "out1_x99": (0.0, -1.0, 1.0),
    "out1_x100": (0.0, -1.0, 1.0),
    "out1_x101": (0.0, -1.0, 1.0),
    "out1_x103": (0.0, -1.0, 1.0),
    "out2": (0.0, -1.0, 1.0),
    "out2_x6": (0.0, -1.0, 1.0),
    "out2_x8": (0.0, -1.0, 1.0),
    "out2_x10": (0.0, -1.0, 1.0),
    "out2_x11": (0.0, -1.0, 1.0),
    "out2_x20": (0.0, -1.0, 1.0),
    "out2_x21": (0.0, -1.0, 1.0),
    "out2_x22": (0.0, -1.0, 1.0),
    "out2_x23": (0.0, -1.0, 1.0),
    "out2_x27": (0.0, -1.0, 1.0),
    "out2_x28": (0.0, -1.0, 1.0),
    "out2_x33": (0.0, -1.0, 1.0),
    "out2_x34": (0.0, -1.0, 1.0),
    "out2_x36": (0.0, -1.0, 1.0),
    "out2_x37": (0.0, -1.0, 1.0),
    "out2_x40": (0.0, -1.0, 1.0),
    "out2_x41": (0.0, -1.0, 1.0),
    "out2_x42": (0.0, -1.0, 1.0),
    "out2_x46": (0.0, -1.0, 1.0),
    "out2_x48": (0.0, -1.0, 1.0),
    "out2_x51": (0.0, -1.0, 1.0),
    "out2_x56": (0.0, -1.0, 1.0),
    "out2_x66": (0.0, -1.0, 1.0),
    "out2_x72": (0.0, -1.0, 1.0),
    "out2_x73": (0.0, -1.0, 1.0),
    "out2_x74": (0.0, -1.0, 1.0),
    "out2_x75": (0.0, -1.0, 1.0),
    "out2_x77": (0.0, -1.0, 1.0),
    "out2_x78": (0.0, -1.0, 1.0),
    "out2_x80": (0.0, -1.0, 1.0),
    "out2_x81": (0.0, -1.0, 1.0),
    "out2_x88": (0.0, -1.0, 1.0),
    "out2_x90": (0.0, -1.0, 1.0),
    "out2_x92": (0.0, -1.0, 1.0),
    "out2_x94": (0.0, -1.0, 1.0),
    "out2_x95": (0.0, -1.0, 1.0),
    "out2_x97": (0.0, -1.0, 1.0),
    "out2_x99": (0.0, -1.0, 1.0),
    "out2_x100": (0.0, -1.0, 1.0),
    "out2_x101": (0.0, -1.0, 1.0),
    "out2_x103": (0.0, -1.0, 1.0),
    "out3": (0.0, -1.0, 1.0),
    "out3_x6": (0.0, -1.0, 1.0),
    "out3_x8": (0.0, -1.0, 1.0),
    "out3_x10": (0.0, -1.0, 1.0),
    "out3_x11": (0.0, -1.0, 1.0),
    "out3_x20": (0.0, -1.0, 1.0),
    "out3_x21": (0.0, -1.0, 1.0),
    "out3_x22": (0.0, -1.0, 1.0),
    "out3_x23": (0.0, -1.0, 1.0),
    "out3_x27": (0.0, -1.0, 1.0),
    "out3_x28": (0.0, -1.0, 1.0),
    "out3_x33": (0.0, -1.0, 1.0),
    "out3_x34": (0.0, -1.0, 1.0),
    "out3_x36": (0.0, -1.0, 1.0),
    "out3_x37": (0.0, -1.0, 1.0),
    "out3_x40": (0.0, -1.0, 1.0),
    "out3_x41": (0.0, -1.0, 1.0),
    "out3_x42": (0.0, -1.0, 1.0),
    "out3_x46": (0.0, -1.0, 1.0),
    "out3_x48": (0.0, -1.0, 1.0),
    "out3_x51": (0.0, -1.0, 1.0),
    "out3_x56": (0.0, -1.0, 1.0),
    "out3_x66": (0.0, -1.0, 1.0),
    "out3_x72": (0.0, -1.0, 1.0),
    "out3_x73": (0.0, -1.0, 1.0),
    "out3_x74": (0.0, -1.0, 1.0),
    "out3_x75": (0.0, -1.0, 1.0),
    "out3_x77": (0.0, -1.0, 1.0),
    "out3_x78": (0.0, -1.0, 1.0),
    "out3_x80": (0.0, -1.0, 1.0),
    "out3_x81": (0.0, -1.0, 1.0),
    "out3_x88": (0.0, -1.0, 1.0),
    "out3_x90": (0.0, -1.0, 1.0),
    "out3_x92": (0.0, -1.0, 1.0),
    "out3_x94": (0.0, -1.0, 1.0),
    "out3_x95": (0.0, -1.0, 1.0),
    "out3_x97": (0.0, -1.0, 1.0),
    "out3_x99": (0.0, -1.0, 1.0),
    "out3_x100": (0.0, -1.0, 1.0),
    "out3_x101": (0.0, -1.0, 1.0),
    "out3_x103": (0.0, -1.0, 1.0),
}


def largest(scores):
    """Index of the largest score."""
    return scores.index(max(scores))


def features(obs):
    """The observation as a list of numbers of about one."""
    return ((np.ravel(obs) - np.array([0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])) / np.array([0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])).tolist()


class Policy:
    def __init__(self, params):
        self.params = params

    def act(self, obs):
        p = self.params
        x = features(obs)
        u0 = p["out0"] + p["out0_x6"] * x[6] + p["out0_x8"] * x[8] + p["out0_x10"] * x[10]
        u0 += p["out0_x11"] * x[11] + p["out0_x20"] * x[20] + p["out0_x21"] * x[21]
        u0 += p["out0_x22"] * x[22] + p["out0_x23"] * x[23] + p["out0_x27"] * x[27]
        u0 += p["out0_x28"] * x[28] + p["out0_x33"] * x[33] + p["out0_x34"] * x[34]
        u0 += p["out0_x36"] * x[36] + p["out0_x37"] * x[37] + p["out0_x40"] * x[40]
        u0 += p["out0_x41"] * x[41] + p["out0_x42"] * x[42] + p["out0_x46"] * x[46]
        u0 += p["out0_x48"] * x[48] + p["out0_x51"] * x[51] + p["out0_x56"] * x[56]
        u0 += p["out0_x66"] * x[66] + p["out0_x72"] * x[72] + p["out0_x73"] * x[73]
        u0 += p["out0_x74"] * x[74] + p["out0_x75"] * x[75] + p["out0_x77"] * x[77]
        u0 += p["out0_x78"] * x[78] + p["out0_x80"] * x[80] + p["out0_x81"] * x[81]
        u0 += p["out0_x88"] * x[88] + p["out0_x90"] * x[90] + p["out0_x92"] * x[92]
        u0 += p["out0_x94"] * x[94] + p["out0_x95"] * x[95] + p["out0_x97"] * x[97]
        u0 += p["out0_x99"] * x[99] + p["out0_x100"] * x[100] + p["out0_x101"] * x[101]
        u0 += p["out0_x103"] * x[103]
        u1 = p["out1"] + p["out1_x6"] * x[6] + p["out1_x8"] * x[8] + p["out1_x10"] * x[10]
        u1 += p["out1_x11"] * x[11] + p["out1_x20"] * x[20] + p["out1_x21"] * x[21]
        u1 += p["out1_x22"] * x[22] + p["out1_x23"] * x[23] + p["out1_x27"] * x[27]
        u1 += p["out1_x28"] * x[28] + p["out1_x33"] * x[33] + p["out1_x34"] * x[34]
        u1 += p["out1_x36"] * x[36] + p["out1_x37"] * x[37] + p["out1_x40"] * x[40]
        u1 += p["out1_x41"] * x[41] + p["out1_x42"] * x[42] + p["out1_x46"] * x[46]
        u1 += p["out1_x48"] * x[48] + p["out1_x51"] * x[51] + p["out1_x56"] * x[56]
        u1 += p["out1_x66"] * x[66] + p["out1_x72"] * x[72] + p["out1_x73"] * x[73]
        u1 += p["out1_x74"] * x[74] + p["out1_x75"] * x[75] + p["out1_x77"] * x[77]
        u1 += p["out1_x78"] * x[78] + p["out1_x80"] * x[80] + p["out1_x81"] * x[81]
        u1 += p["out1_x88"] * x[88] + p["out1_x90"] * x[90] + p["out1_x92"] * x[92]
        u1 += p["out1_x94"] * x[94] + p["out1_x95"] * x[95] + p["out1_x97"] * x[97]
        u1 += p["out1_x99"] * x[99] + p["out1_x100"] * x[100] + p["out1_x101"] * x[101]
        u1 += p["out1_x103"] * x[103]
        u2 = p["out2"] + p["out2_x6"] * x[6] + p["out2_x8"] * x[8] + p["out2_x10"] * x[10]
        u2 += p["out2_x11"] * x[11] + p["out2_x20"] * x[20] + p["out2_x21"] * x[21]
        u2 += p["out2_x22"] * x[22] + p["out2_x23"] * x[23] + p["out2_x27"] * x[27]
        u2 += p["out2_x28"] * x[28] + p["out2_x33"] * x[33] + p["out2_x34"] * x[34]
        u2 += p["out2_x36"] * x[36] + p["out2_x37"] * x[37] + p["out2_x40"] * x[40]
        u2 += p["out2_x41"] * x[41] + p["out2_x42"] * x[42] + p["out2_x46"] * x[46]
        u2 += p["out2_x48"] * x[48] + p["out2_x51"] * x[51] + p["out2_x56"] * x[56]
        u2 += p["out2_x66"] * x[66] + p["out2_x72"] * x[72] + p["out2_x73"] * x[73]
        u2 += p["out2_x74"] * x[74] + p["out2_x75"] * x[75] + p["out2_x77"] * x[77]
        u2 += p["out2_x78"] * x[78] + p["out2_x80"] * x[80] + p["out2_x81"] * x[81]
        u2 += p["out2_x88"] * x[88] + p["out2_x90"] * x[90] + p["out2_x92"] * x[92]
        u2 += p["out2_x94"] * x[94] + p["out2_x95"] * x[95] + p["out2_x97"] * x[97]
        u2 += p["out2_x99"] * x[99] + p["out2_x100"] * x[100] + p["out2_x101"] * x[101]
        u2 += p["out2_x103"] * x[103]
        u3 = p["out3"] + p["out3_x6"] * x[6] + p["out3_x8"] * x[8] + p["out3_x10"] * x[10]
        u3 += p["out3_x11"] * x[11] + p["out3_x20"] * x[20] + p["out3_x21"] * x[21]
        u3 += p["out3_x22"] * x[22] + p["out3_x23"] * x[23] + p["out3_x27"] * x[27]
        u3 += p["out3_x28"] * x[28] + p["out3_x33"] * x[33] + p["out3_x34"] * x[34]
        u3 += p["out3_x36"] * x[36] + p["out3_x37"] * x[37] + p["out3_x40"] * x[40]
        u3 += p["out3_x41"] * x[41] + p["out3_x42"] * x[42] + p["out3_x46"] * x[46]
        u3 += p["out3_x48"] * x[48] + p["out3_x51"] * x[51] + p["out3_x56"] * x[56]
        u3 += p["out3_x66"] * x[66] + p["out3_x72"] * x[72] + p["out3_x73"] * x[73]
        u3 += p["out3_x74"] * x[74] + p["out3_x75"] * x[75] + p["out3_x77"] * x[77]
        u3 += p["out3_x78"] * x[78] + p["out3_x80"] * x[80] + p["out3_x81"] * x[81]
        u3 += p["out3_x88"] * x[88] + p["out3_x90"] * x[90] + p["out3_x92"] * x[92]
        u3 += p["out3_x94"] * x[94] + p["out3_x95"] * x[95] + p["out3_x97"] * x[97]
        u3 += p["out3_x99"] * x[99] + p["out3_x100"] * x[100] + p["out3_x101"] * x[101]
        u3 += p["out3_x103"] * x[103]
        u = [u0, u1, u2, u3]
        return largest(u)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    return Policy({name: value[0] for name, value in PARAMS.items()})


def predict(observation, state=None, episode_start=None, deterministic=True):
    """Actions for one observation, or for a batch as vectorised environments give it.

    Args:
        observation: One observation, or a batch: arrays (or a dict of arrays) with a leading axis.
        state: What the previous call returned; None at the first.
        episode_start: For a batch: a bool per environment, true where a new episode begins. None means a
            single observation, and a new episode when `state` is None.
        deterministic: Accepted for compatibility.

    Returns:
        (action, state): `state` holds one policy object per environment; pass it to the next call.
    """
    import numpy as np

    if episode_start is None:
        state = state or (new_policy(),)
        return _within_bounds(state[0].act(observation)), state
    starts = np.atleast_1d(episode_start)
    state = list(state) if state is not None else [None] * len(starts)
    actions = []
    for i, start in enumerate(starts):
        if start or state[i] is None:
            state[i] = new_policy()
        one = {key: value[i] for key, value in observation.items()} if isinstance(observation, dict) else observation[i]
        if np.ndim(one) == 0 and not isinstance(one, (str, bytes)):
            one = int(one)
        actions.append(_within_bounds(state[i].act(one)))
    return np.asarray(actions), tuple(state)


def _within_bounds(action):
    return action


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='benchmarks.environments:promptpo/NoiseWorld-4-v0', help="environment id")
    parser.add_argument("--env-kwargs", default='{}', type=json.loads, help="JSON")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first episode; the next ones follow")
    parser.add_argument("--render", action="store_true", help="show a window")
    args = parser.parse_args()
    kwargs = {**args.env_kwargs, "render_mode": "human"} if args.render else args.env_kwargs
    env = gymnasium.make(args.env, **kwargs)
    returns = []
    for episode in range(args.episodes):
        observation, _ = env.reset(seed=args.seed + episode)
        state, total, done = None, 0.0, False
        while not done:
            action, state = predict(observation, state)
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            done = terminated or truncated
        returns.append(total)
        print(f"episode {episode + 1}: return {total:.6g}", flush=True)
    if returns:
        print(f"mean return of {len(returns)} episodes: {sum(returns) / len(returns):.6g}")
    env.close()


if __name__ == "__main__":
    main()
