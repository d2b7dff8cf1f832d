"""Policy for InvertedDoublePendulum-v5, written by program search (no language model).

Held-out mean return 280.551 (95 % interval 248.89 to 309.514; 20 episodes, seeds 20000000 to 20000019).
Candidate r2c1t of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Every output is a weighted sum of the observation's numbers; a comparison or a limit makes it an
action.

Written by program search, without a language model.
Structure: linear
"""
import math

import numpy as np

PARAMS = {
    "out0": (-2.86755, -2.87222, 2.12778),
    "out0_x0": (-3.94824, -4.72818, 0.27182),
    "out0_x1": (0.77893, -1.59887, 3.40113),
    "out0_x2": (-3.52075, -9.85712, 0.14288),
    "out0_x3": (-1.72685, -4.03013, 0.96987),
    "out0_x4": (4.79825, 0.00802, 5.00802),
    "out0_x5": (1.02356, -0.18859, 4.81141),
    "out0_x6": (-2.148, -2.4476, 2.5524),
    "out0_x7": (-2.56778, -4.88187, 0.11813),
    "out0_x8": (-0.993491, -2.956, 2.044),
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
        u0 = p["out0"] + p["out0_x0"] * x[0] + p["out0_x1"] * x[1] + p["out0_x2"] * x[2]
        u0 += p["out0_x3"] * x[3] + p["out0_x4"] * x[4] + p["out0_x5"] * x[5]
        u0 += p["out0_x6"] * x[6] + p["out0_x7"] * x[7] + p["out0_x8"] * x[8]
        u = [u0]
        return np.array([clip(u[0])], dtype=np.float32)


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
    parser.add_argument("--env", default='InvertedDoublePendulum-v5', help="environment id")
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
