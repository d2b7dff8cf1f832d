"""Policy for Ant-v5, written by program search (no language model).

Held-out mean return 994.733 (95 % interval 993.146 to 996.282; 20 episodes, seeds 20000000 to 20000019).
Candidate r3c3 of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

A decision list: the first condition on one number of the observation that holds decides.

Written by program search, without a language model.
Structure: rules
"""
import math

import numpy as np

PARAMS = {
    "sign0": (0.5, -1.0, 1.0),
    "edge0": (0.0, -1.0, 1.0),
    "rule0_0": (0.0, -1.0, 1.0),
    "rule0_1": (0.0, -1.0, 1.0),
    "rule0_2": (0.0, -1.0, 1.0),
    "rule0_3": (0.0, -1.0, 1.0),
    "rule0_4": (0.0, -1.0, 1.0),
    "rule0_5": (0.0, -1.0, 1.0),
    "rule0_6": (0.0, -1.0, 1.0),
    "rule0_7": (0.0, -1.0, 1.0),
    "sign1": (0.5, -1.0, 1.0),
    "edge1": (0.0, -1.0, 1.0),
    "rule1_0": (0.0, -1.0, 1.0),
    "rule1_1": (0.0, -1.0, 1.0),
    "rule1_2": (0.0, -1.0, 1.0),
    "rule1_3": (0.0, -1.0, 1.0),
    "rule1_4": (0.0, -1.0, 1.0),
    "rule1_5": (0.0, -1.0, 1.0),
    "rule1_6": (0.0, -1.0, 1.0),
    "rule1_7": (0.0, -1.0, 1.0),
    "sign2": (0.5, -1.0, 1.0),
    "edge2": (0.0, -1.0, 1.0),
    "rule2_0": (0.0, -1.0, 1.0),
    "rule2_1": (0.0, -1.0, 1.0),
    "rule2_2": (0.0, -1.0, 1.0),
    "rule2_3": (0.0, -1.0, 1.0),
    "rule2_4": (0.0, -1.0, 1.0),
    "rule2_5": (0.0, -1.0, 1.0),
    "rule2_6": (0.0, -1.0, 1.0),
    "rule2_7": (0.0, -1.0, 1.0),
    "otherwise0": (0.0, -1.0, 1.0),
    "otherwise1": (0.0, -1.0, 1.0),
    "otherwise2": (0.0, -1.0, 1.0),
    "otherwise3": (0.0, -1.0, 1.0),
    "otherwise4": (0.0, -1.0, 1.0),
    "otherwise5": (0.0, -1.0, 1.0),
    "otherwise6": (0.0, -1.0, 1.0),
    "otherwise7": (0.0, -1.0, 1.0),
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

    def act(self, obs):
        p = self.params
        x = features(obs)
        # The first condition that holds decides how much each output is liked.
        if p["sign0"] * (x[46] - p["edge0"]) > 0.0:
            u0 = p["rule0_0"]
            u1 = p["rule0_1"]
            u2 = p["rule0_2"]
            u3 = p["rule0_3"]
            u4 = p["rule0_4"]
            u5 = p["rule0_5"]
            u6 = p["rule0_6"]
            u7 = p["rule0_7"]
        elif p["sign1"] * (x[59] - p["edge1"]) > 0.0:
            u0 = p["rule1_0"]
            u1 = p["rule1_1"]
            u2 = p["rule1_2"]
            u3 = p["rule1_3"]
            u4 = p["rule1_4"]
            u5 = p["rule1_5"]
            u6 = p["rule1_6"]
            u7 = p["rule1_7"]
        elif p["sign2"] * (x[90] - p["edge2"]) > 0.0:
            u0 = p["rule2_0"]
            u1 = p["rule2_1"]
            u2 = p["rule2_2"]
            u3 = p["rule2_3"]
            u4 = p["rule2_4"]
            u5 = p["rule2_5"]
            u6 = p["rule2_6"]
            u7 = p["rule2_7"]
        else:
            u0 = p["otherwise0"]
            u1 = p["otherwise1"]
            u2 = p["otherwise2"]
            u3 = p["otherwise3"]
            u4 = p["otherwise4"]
            u5 = p["otherwise5"]
            u6 = p["otherwise6"]
            u7 = p["otherwise7"]
        u = [u0, u1, u2, u3, u4, u5, u6, u7]
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
    parser.add_argument("--env", default='Ant-v5', help="environment id")
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
