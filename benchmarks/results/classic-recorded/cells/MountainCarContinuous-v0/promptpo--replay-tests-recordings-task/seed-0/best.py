"""Policy for MountainCarContinuous-v0, written by replay:MountainCarContinuous-v0.

Held-out mean return 96.6294 (95 % interval 96.5836 to 96.674; 100 episodes, seeds 20000000 to 20000099).
Candidate r1c2 of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    "energy_gain": (900.0, 50.0, 5000.0),
    "min_force": (0.15, 0.0, 1.0),
    "max_force": (0.9, 0.2, 1.0),
    "margin": (0.0001, -0.0002, 0.001),
    "vel_gain": (30.0, 0.0, 200.0),
}

GOAL_POSITION = 0.45


def potential(pos: float) -> float:
    return 0.0025 / 3.0 * math.sin(3.0 * pos)


def energy(pos: float, vel: float) -> float:
    return 0.5 * vel * vel + potential(pos)


class Policy:
    def __init__(self, params):
        self.gain = params["energy_gain"]
        self.min_force = params["min_force"]
        self.max_force = params["max_force"]
        self.margin = params["margin"]
        self.vel_gain = params["vel_gain"]
        # Energy required at the flag
        self.target = potential(GOAL_POSITION) + self.margin

    def reset(self):
        pass

    def act(self, obs):
        pos = float(obs[0])
        vel = float(obs[1])
        deficit = self.target - energy(pos, vel)

        if deficit <= 0.0:
            # Enough energy: coast if already moving to the right
            # or if the left swing will carry us back.
            force = 0.0
            if abs(vel) < 1e-4:
                force = 0.2
        else:
            magnitude = self.min_force + self.gain * deficit * min(1.0, self.vel_gain * abs(vel))
            magnitude = min(self.max_force, magnitude)
            direction = 1.0 if vel >= 0 else -1.0
            force = direction * magnitude

        return np.array([force], dtype=np.float32)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    policy = Policy({name: value[0] for name, value in PARAMS.items()})
    policy.reset()
    return policy


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
    parser.add_argument("--env", default='MountainCarContinuous-v0', help="environment id")
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
