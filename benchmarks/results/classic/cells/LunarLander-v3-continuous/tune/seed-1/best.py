"""Policy for LunarLander-v3 {"continuous": true}, written by program search (no language model).

Held-out mean return 13.0043 (95 % interval -13.0159 to 35.9917; 100 episodes, seeds 20000000 to 20000099).
Candidate r2c1t of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

One clock drives all actuators: each follows a sine of its own offset, amplitude and phase,
corrected by what looks like its own joint's position and velocity and by the body's posture.

Written by program search, without a language model.
Structure: oscillator
"""
import math

import numpy as np

PARAMS = {
    "frequency": (0.102988, 0.0578707, 0.224132),
    "shift0": (0.735668, -0.09724, 3.04436),
    "offset0": (-0.0334739, -0.649176, 0.350824),
    "amplitude0": (0.159262, -0.117709, 0.632291),
    "stiffness0": (-0.254081, -1.65064, 0.349356),
    "damping0": (-0.0703667, -0.19777, 0.0022304),
    "correct0_x0": (0.655905, 0.20757, 1.20757),
    "correct0_x3": (-0.99456, -1.31306, -0.313058),
    "correct0_x4": (0.402975, -0.001535, 1.99846),
    "correct0_x5": (-0.18312, -0.582297, 0.417703),
    "shift1": (0.975135, -1.01515, 2.12645),
    "offset1": (-0.0123862, -0.431842, 0.568158),
    "amplitude1": (0.666916, 0.347036, 1.09704),
    "stiffness1": (-0.771836, -1.44373, 0.556271),
    "damping1": (-0.0980626, -0.207565, -0.007565),
    "correct1_x0": (0.245391, -0.234776, 0.765224),
    "correct1_x3": (0.314636, -0.219272, 0.780728),
    "correct1_x4": (0.510161, -0.016411, 0.983589),
    "correct1_x5": (0.861245, 0.34393, 1.34393),
}


def clip(value):
    """Limit a score to -1..1."""
    return max(-1.0, min(1.0, value))


def features(obs):
    """The observation as a list of numbers of about one."""
    return ((np.ravel(obs) - np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5])) / np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5])).tolist()


class Policy:
    def __init__(self, params):
        self.params = params
        self.phase = 0.0

    def act(self, obs):
        p = self.params
        x0, x1, x2, x3, x4, x5, x6, x7 = features(obs)
        self.phase += 2.0 * math.pi * p["frequency"]
        u0 = p["offset0"] + p["amplitude0"] * math.sin(self.phase + p["shift0"])
        u0 += p["stiffness0"] * x1 + p["damping0"] * x6 + p["correct0_x0"] * x0
        u0 += p["correct0_x3"] * x3 + p["correct0_x4"] * x4 + p["correct0_x5"] * x5
        u1 = p["offset1"] + p["amplitude1"] * math.sin(self.phase + p["shift1"])
        u1 += p["stiffness1"] * x2 + p["damping1"] * x7 + p["correct1_x0"] * x0
        u1 += p["correct1_x3"] * x3 + p["correct1_x4"] * x4 + p["correct1_x5"] * x5
        u = [u0, u1]
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
    parser.add_argument("--env", default='LunarLander-v3', help="environment id")
    parser.add_argument("--env-kwargs", default='{"continuous": true}', type=json.loads, help="JSON")
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
