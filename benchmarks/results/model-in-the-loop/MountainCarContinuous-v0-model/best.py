"""Policy for MountainCarContinuous-v0, written by inbox:box.

Held-out mean return 99.3014 (95 % interval 99.2877 to 99.3153; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn -33.5 (-33.8 to -33.3, 50 episodes), the zero action 0 (0 to 0, 50 episodes).
Solved: the held-out return of 99.3 reaches 90.
Candidate r1c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Velocity feedback whose gains are chosen at the first step by rollouts in the exact model: least fuel that arrives in time, with a margin for each neighbour.
"""
import numpy as np

PARAMS = {
    "latest": (960.0, 500.0, 995.0),  # steps in which the model has to arrive
}


class Policy:
    def __init__(self, params):
        self.latest = int(params["latest"])
        self.k = None
        self.c = 0.0

    def choose(self, x0, v0):
        ks = np.geomspace(2.0, 30.0, 70)
        cs = np.array([0.0, 0.01, 0.02, 0.04, 0.08])
        K, C = np.meshgrid(ks, cs, indexing="ij")
        x, v = np.full(K.shape, x0), np.full(K.shape, v0)
        fuel = np.zeros(K.shape)
        done = np.zeros(K.shape, dtype=bool)
        for _ in range(self.latest):
            u = np.clip(K * v + C * np.where(v >= 0, 1.0, -1.0), -1.0, 1.0)
            fuel += np.where(done, 0.0, 0.1 * u * u)
            v = np.clip(v + 0.0015 * u - 0.0025 * np.cos(3 * x), -0.07, 0.07)
            x = np.clip(x + v, -1.2, 0.6)
            v = np.where((x <= -1.2) & (v < 0), 0.0, v)
            done |= (x >= 0.45) & (v >= 0)
            if done.all():
                break
        score = np.where(done, -fuel, -100.0 - fuel)
        safe = score.copy()
        safe[1:] = np.minimum(safe[1:], score[:-1])
        safe[:-1] = np.minimum(safe[:-1], score[1:])
        i, j = np.unravel_index(int(np.argmax(safe)), safe.shape)
        return float(K[i, j]), float(C[i, j])

    def act(self, obs):
        x, v = float(obs[0]), float(obs[1])
        if self.k is None:
            self.k, self.c = self.choose(x, v)
        u = self.k * v + self.c * (1.0 if v >= 0 else -1.0)
        self.debug = {"k": self.k, "c": self.c}
        return np.array([np.clip(u, -1.0, 1.0)], dtype=np.float32)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    policy = Policy({name: value[0] for name, value in PARAMS.items()})
    return policy


def predict(observation, state=None, episode_start=None, deterministic=True):
    """Actions for one observation, or for a batch as vectorised environments give it.

    Args:
        observation: One observation, or a batch: arrays with a leading axis, or a dict or tuple of them.
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
        return as_action(state[0].act(observation)), state
    starts = np.atleast_1d(episode_start)
    state = list(state) if state is not None else [None] * len(starts)
    actions = []
    for i, start in enumerate(starts):
        if start or state[i] is None:
            state[i] = new_policy()
        actions.append(as_action(state[i].act(one_of_batch(observation, i))))
    return np.asarray(actions), tuple(state)


def one_of_batch(batch, i):
    """The i-th observation of a batch, in the form in which the environment itself gives it."""
    import numpy as np

    if isinstance(batch, dict):
        return {key: one_of_batch(value, i) for key, value in batch.items()}
    if isinstance(batch, tuple) and not isinstance(batch[0], str):
        return tuple(one_of_batch(value, i) for value in batch)
    one = batch[i]
    if isinstance(one, np.integer):
        return int(one)
    return one if isinstance(one, str) else np.asarray(one)


def as_action(action):
    """What the policy returned, as the environment wants it, within its bounds."""
    import numpy as np

    action = np.asarray(action, dtype=np.float32).reshape((1,))
    return np.clip(action, np.float32(-1.0), np.float32(1.0))


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
