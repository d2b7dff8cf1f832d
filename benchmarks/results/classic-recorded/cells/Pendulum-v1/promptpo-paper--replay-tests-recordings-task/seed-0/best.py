"""Policy for Pendulum-v1, written by replay:Pendulum-v1.

Held-out mean return -154.377 (95 % interval -172.508 to -137.426; 100 episodes, seeds 20000000 to 20000099).
Candidate r1c2 of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import numpy as np

PARAMS = {
    "horizon": (20, 8, 40),
    "n_samples": (128, 32, 400),
    "n_elite": (12, 4, 40),
    "n_iters": (3, 1, 6),
    "init_std": (1.2, 0.3, 2.0),
    "terminal_weight": (5.0, 0.0, 50.0),
    "seed": (0, 0, 10),
}

MAX_TORQUE = 2.0
MAX_SPEED = 8.0
DT = 0.05
G, M, L = 10.0, 1.0, 1.0


def angle_normalize(x):
    return ((x + np.pi) % (2 * np.pi)) - np.pi


class Policy:
    def __init__(self, params):
        self.h = int(params["horizon"])
        self.n = int(params["n_samples"])
        self.k = int(params["n_elite"])
        self.iters = int(params["n_iters"])
        self.std0 = params["init_std"]
        self.wt = params["terminal_weight"]
        self.rng = np.random.default_rng(int(params["seed"]))
        self.mean = np.zeros(self.h)

    def reset(self):
        self.mean = np.zeros(self.h)

    def _rollout(self, th0, thd0, actions):
        n = actions.shape[0]
        th = np.full(n, th0)
        thd = np.full(n, thd0)
        cost = np.zeros(n)
        for t in range(self.h):
            u = actions[:, t]
            cost += angle_normalize(th) ** 2 + 0.1 * thd**2 + 0.001 * u**2
            thd = thd + (3 * G / (2 * L) * np.sin(th) + 3.0 / (M * L**2) * u) * DT
            thd = np.clip(thd, -MAX_SPEED, MAX_SPEED)
            th = th + thd * DT
        # terminal cost: distance from the upright energy + angle
        energy = thd**2 / 6.0 + 5.0 * np.cos(th)
        cost += self.wt * (0.1 * (energy - 5.0) ** 2 + 0.2 * angle_normalize(th) ** 2)
        return cost

    def act(self, obs):
        th = float(np.arctan2(obs[1], obs[0]))
        thd = float(obs[2])
        mean = np.append(self.mean[1:], 0.0)
        std = np.full(self.h, self.std0)
        for _ in range(self.iters):
            noise = self.rng.standard_normal((self.n, self.h))
            samples = np.clip(mean + std * noise, -MAX_TORQUE, MAX_TORQUE)
            costs = self._rollout(th, thd, samples)
            elite = samples[np.argsort(costs)[: self.k]]
            mean = elite.mean(axis=0)
            std = elite.std(axis=0) + 0.05
        self.mean = mean
        return np.array([np.clip(mean[0], -MAX_TORQUE, MAX_TORQUE)], dtype=np.float32)


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

    return np.clip(np.asarray(action, dtype=np.float32), np.float32(-2.0), np.float32(2.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='Pendulum-v1', help="environment id")
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
