"""Policy for MountainCar-v0, written by replay:MountainCar-v0.

Held-out mean return -107.93 (95 % interval -112.84 to -103.309; 100 episodes, seeds 20000000 to 20000099).
Candidate r1c2 of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    "lb_a": (-0.09, -0.2, 0.0),
    "lb_shift": (0.25, 0.0, 0.6),
    "lb_b": (0.03, 0.0, 0.06),
    "lb2_a": (0.3, 0.0, 0.8),
    "lb2_shift": (0.9, 0.5, 1.2),
    "lb2_b": (-0.008, -0.03, 0.01),
    "ub_a": (-0.07, -0.2, 0.0),
    "ub_shift": (0.38, 0.0, 0.7),
    "ub_b": (0.07, 0.02, 0.1),
}


class Policy:
    def __init__(self, params):
        self.p = params

    def act(self, obs):
        position = float(obs[0])
        velocity = float(obs[1])
        p = self.p
        lb = min(
            p["lb_a"] * (position + p["lb_shift"]) ** 2 + p["lb_b"],
            p["lb2_a"] * (position + p["lb2_shift"]) ** 4 + p["lb2_b"],
        )
        ub = p["ub_a"] * (position + p["ub_shift"]) ** 2 + p["ub_b"]
        if lb < velocity < ub:
            return 2  # push right
        return 0  # push left


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
    parser.add_argument("--env", default='MountainCar-v0', help="environment id")
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
