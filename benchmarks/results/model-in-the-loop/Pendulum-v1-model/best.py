"""Policy for Pendulum-v1, written by inbox:box.

Held-out mean return -119.512 (95 % interval -138.033 to -100.792; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn -1165 (-1233 to -1094, 50 episodes), the zero action -1123 (-1217 to -1031, 50 episodes).
Better than the zero action: -119.5 against -1123 (difference 1004 ± 40 over 50 shared episodes).
Candidate r2c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Exact-model rollouts: held torques then feedback, and the best plan so far with local changes; cheapest first torque is played; LQR near the top.
"""
import numpy as np

PARAMS = {
    "near": (0.25, 0.05, 0.8),    # |th| + 0.25|w| below which LQR acts alone
    "catch": (1.0, 0.3, 1.5),     # |th| below which the feedback law of the rollouts uses LQR
    "over": (0.2, -2.0, 3.0),     # energy aimed at by the feedback law
    "rq": (0.001, 0.0005, 0.05),  # torque weight of the LQR
    "sigma": (0.8, 0.1, 2.0),     # N m, size of the changes to the plan
}
N = 80


def riccati(r):
    A = np.array([[1 + 0.05 * 0.75, 0.05], [0.75, 1.0]])
    B = np.array([[0.05 * 0.15], [0.15]])
    Q = np.diag([1.0, 0.1])
    P = Q.copy()
    for _ in range(300):
        K = (B.T @ P @ A) / float(r + (B.T @ P @ B)[0, 0])
        P = Q + A.T @ P @ (A - B @ K)
    return K[0], P


class Policy:
    def __init__(self, params):
        self.p = params
        self.K, self.P = riccati(params["rq"])
        self.best = None
        self.rng = np.random.default_rng(1)
        self.m = 160
        plans = []
        for u1 in (-2.0, -1.0, 0.0, 1.0, 2.0):
            for n1 in (1, 2, 4, 6, 8, 11, 14, 18, 22):
                plans.append((u1, n1, 0.0, 0))
                for u2 in (-2.0, 2.0):
                    for n2 in (4, 8, 12, 17):
                        if u1 != u2:
                            plans.append((u1, n1, u2, n2))
        plans.append((0.0, 0, 0.0, 0))
        q = np.array(plans)
        t = np.arange(N)[:, None]
        first = t < q[:, 1][None]
        second = ~first & (t < (q[:, 1] + q[:, 3])[None])
        self.U = np.where(first, q[:, 0][None], q[:, 2][None])
        self.free = ~(first | second)

    def law(self, th, w):
        K = self.K
        lin = -(K[0] * th + K[1] * w)
        e = 0.5 * w * w + 15.0 * (np.cos(th) - 1.0) - self.p["over"]
        pump = np.where(e < 0, 2.0, -2.0) * np.where(w >= 0, 1.0, -1.0)
        return np.clip(np.where(np.abs(th) < self.p["catch"], lin, pump), -2.0, 2.0)

    def act(self, obs):
        th0 = float(np.arctan2(obs[1], obs[0]))
        w0 = float(obs[2])
        if abs(th0) + 0.25 * abs(w0) < self.p["near"]:
            u = float(np.clip(-(self.K[0] * th0 + self.K[1] * w0), -2, 2))
            self.debug = {"mode": "lqr"}
            return np.array([u], dtype=np.float32)
        U, free = self.U, self.free
        if self.best is not None:
            b = np.append(self.best[1:], 0.0)
            V = np.repeat(b[:, None], self.m, axis=1)
            t = np.arange(N)[:, None]
            a = self.rng.integers(0, 45, self.m)
            e = a + self.rng.integers(1, 14, self.m)
            add = self.rng.normal(0.0, self.p["sigma"], self.m)
            add[0] = 0.0
            V = np.clip(V + np.where((t >= a) & (t < e), add[None], 0.0), -2.0, 2.0)
            F = np.zeros((N, self.m), dtype=bool)
            # half of the changed plans end in the feedback law, so that what they change is caught
            F[:, 1::2] = t >= (e[1::2] + 3)[None]
            F[-1] = True
            U, free = np.hstack([U, V]), np.hstack([free, F])
        n = U.shape[1]
        th, w, cost = np.full(n, th0), np.full(n, w0), np.zeros(n)
        rec = np.zeros((N, n))
        for t in range(N):
            u = np.where(free[t], self.law(th, w), U[t])
            rec[t] = u
            cost += th * th + 0.1 * w * w + 0.001 * u * u
            w = np.clip(w + 0.75 * np.sin(th) + 0.15 * u, -8.0, 8.0)
            th = th + 0.05 * w
            th = (th + np.pi) % (2 * np.pi) - np.pi
        P = self.P
        cost += P[0, 0] * th * th + 2 * P[0, 1] * th * w + P[1, 1] * w * w
        i = int(np.argmin(cost))
        self.best = rec[:, i].copy()
        self.debug = {"mode": "plan", "cost": float(cost[i]), "changed": int(i >= self.U.shape[1])}
        return np.array([self.best[0]], dtype=np.float32)


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
    return np.clip(action, np.float32(-2.0), np.float32(2.0))


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
