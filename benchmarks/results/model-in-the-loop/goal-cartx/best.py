"""Policy for CartPole-v1 with the reward written for the goal (c35d3211), written by inbox:box.

Held-out mean return 450.26 (95 % interval 448.903 to 451.597; 20 episodes, seeds 20000000 to 20000019).
Success in 100% of them.
On the same seeds random actions earn -5.58 (-6.27 to -4.83, 20 episodes), the zero action -8.11 (-8.18 to -8.05, 20 episodes).
Solved: success in 100% of the test episodes.
Candidate r2c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Looks ahead: the same sliding surface with several decays p and either first push, simulated and paid like the task; the best first push is taken.
"""
import math

PARAMS = {
    "p": (2.14764, 1.2, 3.6),
    "a": (0.670279, 0.5, 0.85),
    "far": (1.1335, 0.4, 1.2),
    "wx": (1.0, 0.6, 1.6),
    "wv": (0.95, 0.7, 1.4),
    "limit": (0.185, 0.14, 0.205),   # lean that a simulated run must not pass
}
G = 9.81


def step(s, a):
    x, v, th, w = s
    f = 10.0 if a else -10.0
    c, n = math.cos(th), math.sin(th)
    t = (f + 0.05 * w * w * n) / 1.1
    dw = (9.8 * n - c * t) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1))
    dv = t - 0.05 * dw * c / 1.1
    return (x + 0.02 * v, v + 0.02 * dv, th + 0.02 * w, w + 0.02 * dw)


class Policy:
    def __init__(self, params):
        self.q = params
        self.t = 0

    def push(self, s, p):
        q = self.q
        x, v, th, w = s
        e = min(max(x - 1.0, -q["far"]), q["far"])
        y = q["wx"] * e + q["a"] * th
        dy = q["wv"] * v + q["a"] * w
        return 1 if G * w + 3.0 * p * G * th + 3.0 * p * p * dy + p ** 3 * y > 0 else 0

    def pay(self, s, first, p, n):
        total, av = 0.0, s[1]
        s = step(s, first)
        for k in range(n):
            x, v, th, w = s
            if abs(th) > self.q["limit"] or abs(x) > 2.3:
                return total - 20.0
            av += 0.2 * (v - av)
            d = abs(x - 1.0)
            near = math.exp(-min((d / 0.15) ** 2, 50.0))
            total += 0.4 * max(0.0, 1.0 - d / 1.5) + 0.3 * near
            total += 0.2 * near / (1.0 + 10.0 * av * av + 20.0 * th * th + w * w)
            s = step(s, self.push(s, p))
        # what is left at the end of the look ahead counts a little more
        return total - 8.0 * abs(s[0] - 1.0) - 2.0 * abs(s[1])

    def act(self, obs):
        s = tuple(float(u) for u in obs)
        base = self.q["p"]
        far = abs(s[0] - 1.0) > 0.12
        decays = (base, base + 0.25, base + 0.5, base + 0.8) if far else (base, base - 0.4, base + 0.4)
        n = 90 if far else 40
        best, choice = -1e9, self.push(s, base)
        for p in decays:
            for first in (0, 1):
                u = self.pay(s, first, p, n)
                if u > best + 1e-9:
                    best, choice = u, first
        self.debug = {"best": round(best, 2)}
        return choice


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
    """What the policy returned, as the environment wants it."""
    import numpy as np

    return int(np.asarray(action).item())


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='CartPole-v1', help="environment id")
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
