"""Policy for BipedalWalker-v3, written by program search (no language model).

Held-out mean return -34.6694 (95 % interval -34.8111 to -34.5278; 100 episodes, seeds 20000000 to 20000099).
Candidate r1c1t of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

One clock drives all actuators: each follows a sine of its own offset, amplitude and phase,
corrected by what looks like its own joint's position and velocity and by the body's posture.

Written by program search, without a language model.
Structure: oscillator
"""
import math

import numpy as np

PARAMS = {
    "frequency": (0.10062, 0.02, 0.3),
    "shift0": (0.326589, -3.1416, 3.1416),
    "offset0": (-0.0381499, -1.0, 1.0),
    "amplitude0": (0.509011, 0.0, 1.5),
    "stiffness0": (-0.340702, -3.0, 1.0),
    "damping0": (-0.0395011, -0.3, 0.1),
    "correct0_x0": (0.334776, -1.0, 1.0),
    "correct0_x1": (0.00774675, -1.0, 1.0),
    "correct0_x2": (0.236721, -1.0, 1.0),
    "correct0_x3": (-0.133966, -1.0, 1.0),
    "correct0_x4": (-0.276776, -1.0, 1.0),
    "correct0_x5": (-0.176851, -1.0, 1.0),
    "correct0_x6": (0.244806, -1.0, 1.0),
    "correct0_x11": (-0.0162027, -1.0, 1.0),
    "correct0_x12": (-0.0774826, -1.0, 1.0),
    "correct0_x13": (0.317519, -1.0, 1.0),
    "correct0_x14": (-0.367724, -1.0, 1.0),
    "correct0_x15": (0.711659, -1.0, 1.0),
    "correct0_x16": (0.137926, -1.0, 1.0),
    "correct0_x17": (0.318001, -1.0, 1.0),
    "correct0_x18": (0.236215, -1.0, 1.0),
    "correct0_x19": (-0.0362746, -1.0, 1.0),
    "shift1": (-1.19039, -3.1416, 3.1416),
    "offset1": (0.123026, -1.0, 1.0),
    "amplitude1": (0.379589, 0.0, 1.5),
    "stiffness1": (0.197745, -3.0, 1.0),
    "damping1": (-0.0901648, -0.3, 0.1),
    "correct1_x0": (0.330594, -1.0, 1.0),
    "correct1_x1": (0.0396763, -1.0, 1.0),
    "correct1_x2": (-0.145045, -1.0, 1.0),
    "correct1_x3": (0.0883187, -1.0, 1.0),
    "correct1_x4": (0.206967, -1.0, 1.0),
    "correct1_x5": (-0.318262, -1.0, 1.0),
    "correct1_x6": (-0.585003, -1.0, 1.0),
    "correct1_x11": (0.168499, -1.0, 1.0),
    "correct1_x12": (-0.245383, -1.0, 1.0),
    "correct1_x13": (0.116078, -1.0, 1.0),
    "correct1_x14": (-0.144587, -1.0, 1.0),
    "correct1_x15": (0.224088, -1.0, 1.0),
    "correct1_x16": (-0.184498, -1.0, 1.0),
    "correct1_x17": (0.025676, -1.0, 1.0),
    "correct1_x18": (0.0364707, -1.0, 1.0),
    "correct1_x19": (-0.015975, -1.0, 1.0),
    "shift2": (-0.35394, -3.1416, 3.1416),
    "offset2": (-0.309129, -1.0, 1.0),
    "amplitude2": (0.0551537, 0.0, 1.5),
    "stiffness2": (-0.590108, -3.0, 1.0),
    "damping2": (-0.00413415, -0.3, 0.1),
    "correct2_x0": (0.120035, -1.0, 1.0),
    "correct2_x1": (-0.282007, -1.0, 1.0),
    "correct2_x2": (-0.249258, -1.0, 1.0),
    "correct2_x3": (-0.139199, -1.0, 1.0),
    "correct2_x4": (-0.28205, -1.0, 1.0),
    "correct2_x5": (0.242354, -1.0, 1.0),
    "correct2_x6": (-0.379646, -1.0, 1.0),
    "correct2_x11": (-0.0192779, -1.0, 1.0),
    "correct2_x12": (0.00877793, -1.0, 1.0),
    "correct2_x13": (0.365251, -1.0, 1.0),
    "correct2_x14": (0.206756, -1.0, 1.0),
    "correct2_x15": (0.190423, -1.0, 1.0),
    "correct2_x16": (0.296249, -1.0, 1.0),
    "correct2_x17": (-0.0710271, -1.0, 1.0),
    "correct2_x18": (-0.134749, -1.0, 1.0),
    "correct2_x19": (-0.497678, -1.0, 1.0),
    "shift3": (-1.03927, -3.1416, 3.1416),
    "offset3": (-0.104973, -1.0, 1.0),
    "amplitude3": (0.345598, 0.0, 1.5),
    "stiffness3": (-1.83867, -3.0, 1.0),
    "damping3": (-0.0400272, -0.3, 0.1),
    "correct3_x0": (-0.0926061, -1.0, 1.0),
    "correct3_x1": (-0.0451397, -1.0, 1.0),
    "correct3_x2": (0.0330697, -1.0, 1.0),
    "correct3_x3": (0.458972, -1.0, 1.0),
    "correct3_x4": (0.0256461, -1.0, 1.0),
    "correct3_x5": (0.514884, -1.0, 1.0),
    "correct3_x6": (-0.0916619, -1.0, 1.0),
    "correct3_x11": (-0.100939, -1.0, 1.0),
    "correct3_x12": (-0.00386943, -1.0, 1.0),
    "correct3_x13": (-0.186627, -1.0, 1.0),
    "correct3_x14": (0.37594, -1.0, 1.0),
    "correct3_x15": (-0.420949, -1.0, 1.0),
    "correct3_x16": (-0.0473952, -1.0, 1.0),
    "correct3_x17": (0.486117, -1.0, 1.0),
    "correct3_x18": (0.505224, -1.0, 1.0),
    "correct3_x19": (-0.182519, -1.0, 1.0),
}


def clip(value):
    """Limit a score to -1..1."""
    return max(-1.0, min(1.0, value))


def features(obs):
    """The observation as a list of numbers of about one."""
    return np.ravel(obs).tolist()


class Policy:
    def __init__(self, params):
        self.params = params
        self.phase = 0.0

    def act(self, obs):
        p = self.params
        x = features(obs)
        self.phase += 2.0 * math.pi * p["frequency"]
        u0 = p["offset0"] + p["amplitude0"] * math.sin(self.phase + p["shift0"])
        u0 += p["stiffness0"] * x[7] + p["damping0"] * x[20] + p["correct0_x0"] * x[0]
        u0 += p["correct0_x1"] * x[1] + p["correct0_x2"] * x[2] + p["correct0_x3"] * x[3]
        u0 += p["correct0_x4"] * x[4] + p["correct0_x5"] * x[5] + p["correct0_x6"] * x[6]
        u0 += p["correct0_x11"] * x[11] + p["correct0_x12"] * x[12] + p["correct0_x13"] * x[13]
        u0 += p["correct0_x14"] * x[14] + p["correct0_x15"] * x[15] + p["correct0_x16"] * x[16]
        u0 += p["correct0_x17"] * x[17] + p["correct0_x18"] * x[18] + p["correct0_x19"] * x[19]
        u1 = p["offset1"] + p["amplitude1"] * math.sin(self.phase + p["shift1"])
        u1 += p["stiffness1"] * x[8] + p["damping1"] * x[21] + p["correct1_x0"] * x[0]
        u1 += p["correct1_x1"] * x[1] + p["correct1_x2"] * x[2] + p["correct1_x3"] * x[3]
        u1 += p["correct1_x4"] * x[4] + p["correct1_x5"] * x[5] + p["correct1_x6"] * x[6]
        u1 += p["correct1_x11"] * x[11] + p["correct1_x12"] * x[12] + p["correct1_x13"] * x[13]
        u1 += p["correct1_x14"] * x[14] + p["correct1_x15"] * x[15] + p["correct1_x16"] * x[16]
        u1 += p["correct1_x17"] * x[17] + p["correct1_x18"] * x[18] + p["correct1_x19"] * x[19]
        u2 = p["offset2"] + p["amplitude2"] * math.sin(self.phase + p["shift2"])
        u2 += p["stiffness2"] * x[9] + p["damping2"] * x[22] + p["correct2_x0"] * x[0]
        u2 += p["correct2_x1"] * x[1] + p["correct2_x2"] * x[2] + p["correct2_x3"] * x[3]
        u2 += p["correct2_x4"] * x[4] + p["correct2_x5"] * x[5] + p["correct2_x6"] * x[6]
        u2 += p["correct2_x11"] * x[11] + p["correct2_x12"] * x[12] + p["correct2_x13"] * x[13]
        u2 += p["correct2_x14"] * x[14] + p["correct2_x15"] * x[15] + p["correct2_x16"] * x[16]
        u2 += p["correct2_x17"] * x[17] + p["correct2_x18"] * x[18] + p["correct2_x19"] * x[19]
        u3 = p["offset3"] + p["amplitude3"] * math.sin(self.phase + p["shift3"])
        u3 += p["stiffness3"] * x[10] + p["damping3"] * x[23] + p["correct3_x0"] * x[0]
        u3 += p["correct3_x1"] * x[1] + p["correct3_x2"] * x[2] + p["correct3_x3"] * x[3]
        u3 += p["correct3_x4"] * x[4] + p["correct3_x5"] * x[5] + p["correct3_x6"] * x[6]
        u3 += p["correct3_x11"] * x[11] + p["correct3_x12"] * x[12] + p["correct3_x13"] * x[13]
        u3 += p["correct3_x14"] * x[14] + p["correct3_x15"] * x[15] + p["correct3_x16"] * x[16]
        u3 += p["correct3_x17"] * x[17] + p["correct3_x18"] * x[18] + p["correct3_x19"] * x[19]
        u = [u0, u1, u2, u3]
        return np.array([clip(v) for v in u], dtype=np.float32)


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
    import numpy as np

    return np.clip(np.asarray(action, dtype=np.float32), np.float32(-1.0), np.float32(1.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='BipedalWalker-v3', help="environment id")
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
