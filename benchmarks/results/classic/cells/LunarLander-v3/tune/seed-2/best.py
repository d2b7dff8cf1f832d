"""Policy for LunarLander-v3, written by program search (no language model).

Held-out mean return -90.2486 (95 % interval -106.984 to -73.6616; 100 episodes, seeds 20000000 to 20000099).
Candidate r1c1t of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Every output is a weighted sum of the observation's numbers; a comparison or a limit makes it an
action.

Written by program search, without a language model.
Structure: linear
"""
import math

import numpy as np

PARAMS = {
    "out0": (0.173753, -1.0, 1.0),
    "out0_x0": (0.00613657, -1.0, 1.0),
    "out0_x1": (0.716193, -1.0, 1.0),
    "out0_x2": (0.284793, -1.0, 1.0),
    "out0_x3": (-0.0159137, -1.0, 1.0),
    "out0_x4": (-0.0677228, -1.0, 1.0),
    "out0_x5": (0.327138, -1.0, 1.0),
    "out0_x6": (-0.401299, -1.0, 1.0),
    "out0_x7": (0.0981843, -1.0, 1.0),
    "out1": (-0.579655, -1.0, 1.0),
    "out1_x0": (-0.171223, -1.0, 1.0),
    "out1_x1": (0.105465, -1.0, 1.0),
    "out1_x2": (-0.193316, -1.0, 1.0),
    "out1_x3": (0.27298, -1.0, 1.0),
    "out1_x4": (-0.151245, -1.0, 1.0),
    "out1_x5": (-0.150738, -1.0, 1.0),
    "out1_x6": (0.0702838, -1.0, 1.0),
    "out1_x7": (-0.237224, -1.0, 1.0),
    "out2": (0.308651, -1.0, 1.0),
    "out2_x0": (0.107199, -1.0, 1.0),
    "out2_x1": (0.215926, -1.0, 1.0),
    "out2_x2": (0.328622, -1.0, 1.0),
    "out2_x3": (-0.472184, -1.0, 1.0),
    "out2_x4": (0.552319, -1.0, 1.0),
    "out2_x5": (-0.0521433, -1.0, 1.0),
    "out2_x6": (-0.248607, -1.0, 1.0),
    "out2_x7": (0.382586, -1.0, 1.0),
    "out3": (-0.640118, -1.0, 1.0),
    "out3_x0": (-0.181613, -1.0, 1.0),
    "out3_x1": (0.00486682, -1.0, 1.0),
    "out3_x2": (0.414229, -1.0, 1.0),
    "out3_x3": (0.0745919, -1.0, 1.0),
    "out3_x4": (-0.0197647, -1.0, 1.0),
    "out3_x5": (0.0444779, -1.0, 1.0),
    "out3_x6": (-0.258452, -1.0, 1.0),
    "out3_x7": (0.234813, -1.0, 1.0),
}


def largest(scores):
    """Index of the largest score."""
    return scores.index(max(scores))


def features(obs):
    """The observation as a list of numbers of about one."""
    return ((np.ravel(obs) - np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5])) / np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5])).tolist()


class Policy:
    def __init__(self, params):
        self.params = params

    def act(self, obs):
        p = self.params
        x0, x1, x2, x3, x4, x5, x6, x7 = features(obs)
        u0 = p["out0"] + p["out0_x0"] * x0 + p["out0_x1"] * x1 + p["out0_x2"] * x2
        u0 += p["out0_x3"] * x3 + p["out0_x4"] * x4 + p["out0_x5"] * x5 + p["out0_x6"] * x6
        u0 += p["out0_x7"] * x7
        u1 = p["out1"] + p["out1_x0"] * x0 + p["out1_x1"] * x1 + p["out1_x2"] * x2
        u1 += p["out1_x3"] * x3 + p["out1_x4"] * x4 + p["out1_x5"] * x5 + p["out1_x6"] * x6
        u1 += p["out1_x7"] * x7
        u2 = p["out2"] + p["out2_x0"] * x0 + p["out2_x1"] * x1 + p["out2_x2"] * x2
        u2 += p["out2_x3"] * x3 + p["out2_x4"] * x4 + p["out2_x5"] * x5 + p["out2_x6"] * x6
        u2 += p["out2_x7"] * x7
        u3 = p["out3"] + p["out3_x0"] * x0 + p["out3_x1"] * x1 + p["out3_x2"] * x2
        u3 += p["out3_x3"] * x3 + p["out3_x4"] * x4 + p["out3_x5"] * x5 + p["out3_x6"] * x6
        u3 += p["out3_x7"] * x7
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
    parser.add_argument("--env", default='LunarLander-v3', help="environment id")
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
