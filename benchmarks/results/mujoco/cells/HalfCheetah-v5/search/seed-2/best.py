"""Policy for HalfCheetah-v5, written by program search (no language model).

Held-out mean return 79.937 (95 % interval 79.0592 to 80.7713; 20 episodes, seeds 20000000 to 20000019).
Candidate r2c4 of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

One clock drives all actuators: each follows a sine of its own offset, amplitude and phase,
corrected by what looks like its own joint's position and velocity and by the body's posture.

Written by program search, without a language model.
Structure: oscillator (variant 1)
"""
import math

import numpy as np

PARAMS = {
    "frequency": (0.1, 0.02, 0.3),
    "shift0": (0.0, -3.1416, 3.1416),
    "offset0": (0.0, -1.0, 1.0),
    "amplitude0": (0.5, 0.0, 1.5),
    "stiffness0": (-0.5, -3.0, 1.0),
    "damping0": (-0.05, -0.3, 0.1),
    "correct0_x0": (0.0, -1.0, 1.0),
    "correct0_x1": (0.0, -1.0, 1.0),
    "shift1": (0.0, -3.1416, 3.1416),
    "offset1": (0.0, -1.0, 1.0),
    "amplitude1": (0.5, 0.0, 1.5),
    "stiffness1": (-0.5, -3.0, 1.0),
    "damping1": (-0.05, -0.3, 0.1),
    "correct1_x0": (0.0, -1.0, 1.0),
    "correct1_x1": (0.0, -1.0, 1.0),
    "shift2": (0.0, -3.1416, 3.1416),
    "offset2": (0.0, -1.0, 1.0),
    "amplitude2": (0.5, 0.0, 1.5),
    "stiffness2": (-0.5, -3.0, 1.0),
    "damping2": (-0.05, -0.3, 0.1),
    "correct2_x0": (0.0, -1.0, 1.0),
    "correct2_x1": (0.0, -1.0, 1.0),
    "shift3": (0.0, -3.1416, 3.1416),
    "offset3": (0.0, -1.0, 1.0),
    "amplitude3": (0.5, 0.0, 1.5),
    "stiffness3": (-0.5, -3.0, 1.0),
    "damping3": (-0.05, -0.3, 0.1),
    "correct3_x0": (0.0, -1.0, 1.0),
    "correct3_x1": (0.0, -1.0, 1.0),
    "shift4": (0.0, -3.1416, 3.1416),
    "offset4": (0.0, -1.0, 1.0),
    "amplitude4": (0.5, 0.0, 1.5),
    "stiffness4": (-0.5, -3.0, 1.0),
    "damping4": (-0.05, -0.3, 0.1),
    "correct4_x0": (0.0, -1.0, 1.0),
    "correct4_x1": (0.0, -1.0, 1.0),
    "shift5": (0.0, -3.1416, 3.1416),
    "offset5": (0.0, -1.0, 1.0),
    "amplitude5": (0.5, 0.0, 1.5),
    "stiffness5": (-0.5, -3.0, 1.0),
    "damping5": (-0.05, -0.3, 0.1),
    "correct5_x0": (0.0, -1.0, 1.0),
    "correct5_x1": (0.0, -1.0, 1.0),
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
        u0 += p["stiffness0"] * x[2] + p["damping0"] * x[11] + p["correct0_x0"] * x[0]
        u0 += p["correct0_x1"] * x[1]
        u1 = p["offset1"] + p["amplitude1"] * math.sin(self.phase + p["shift1"])
        u1 += p["stiffness1"] * x[3] + p["damping1"] * x[12] + p["correct1_x0"] * x[0]
        u1 += p["correct1_x1"] * x[1]
        u2 = p["offset2"] + p["amplitude2"] * math.sin(self.phase + p["shift2"])
        u2 += p["stiffness2"] * x[4] + p["damping2"] * x[13] + p["correct2_x0"] * x[0]
        u2 += p["correct2_x1"] * x[1]
        u3 = p["offset3"] + p["amplitude3"] * math.sin(self.phase + p["shift3"])
        u3 += p["stiffness3"] * x[5] + p["damping3"] * x[14] + p["correct3_x0"] * x[0]
        u3 += p["correct3_x1"] * x[1]
        u4 = p["offset4"] + p["amplitude4"] * math.sin(self.phase + p["shift4"])
        u4 += p["stiffness4"] * x[6] + p["damping4"] * x[15] + p["correct4_x0"] * x[0]
        u4 += p["correct4_x1"] * x[1]
        u5 = p["offset5"] + p["amplitude5"] * math.sin(self.phase + p["shift5"])
        u5 += p["stiffness5"] * x[7] + p["damping5"] * x[16] + p["correct5_x0"] * x[0]
        u5 += p["correct5_x1"] * x[1]
        u = [u0, u1, u2, u3, u4, u5]
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
    parser.add_argument("--env", default='HalfCheetah-v5', help="environment id")
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
