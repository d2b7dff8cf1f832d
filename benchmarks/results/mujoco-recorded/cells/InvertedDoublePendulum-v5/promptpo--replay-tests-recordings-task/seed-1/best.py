"""Policy for InvertedDoublePendulum-v5, written by replay:InvertedDoublePendulum-v5.

Held-out mean return 9359.88 (95 % interval 9359.83 to 9359.93; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c2 of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    # physical model
    "m_cart": (10.5, 3.0, 25.0),
    "m_1": (4.2, 1.0, 10.0),
    "m_2": (4.2, 1.0, 10.0),
    "len_1": (0.6, 0.4, 0.8),
    "len_2": (0.6, 0.4, 0.8),
    "gear": (500.0, 200.0, 900.0),
    "damp_x": (0.05, 0.0, 2.0),
    "damp_th": (0.05, 0.0, 1.0),
    # cost (log10 of the weights)
    "q_x": (0.0, -3.0, 3.0),
    "q_1": (1.0, -2.0, 4.0),
    "q_2": (1.0, -2.0, 4.0),
    "q_v": (-1.0, -4.0, 3.0),
    "q_w": (0.0, -4.0, 3.0),
    "r_u": (0.5, -3.0, 4.0),
    # set-points
    "x_ref": (0.0, -0.3, 0.3),
}

G = 9.81
DT = 0.05


class Policy:
    def __init__(self, params):
        self.p = params
        self.K = self.design()

    def design(self):
        p = self.p
        M, m1, m2 = p["m_cart"], p["m_1"], p["m_2"]
        L1 = p["len_1"]
        l1, l2 = 0.5 * p["len_1"], 0.5 * p["len_2"]
        I1 = m1 * p["len_1"] ** 2 / 12.0
        I2 = m2 * p["len_2"] ** 2 / 12.0
        # generalised coordinates x, a (absolute lower angle), b (absolute upper angle)
        Mm = np.array(
            [
                [M + m1 + m2, m1 * l1 + m2 * L1, m2 * l2],
                [m1 * l1 + m2 * L1, I1 + m1 * l1**2 + m2 * L1**2, m2 * L1 * l2],
                [m2 * l2, m2 * L1 * l2, I2 + m2 * l2**2],
            ]
        )
        Gm = np.diag([0.0, (m1 * l1 + m2 * L1) * G, m2 * l2 * G])
        # hinge friction acts on the relative velocity
        d = p["damp_th"]
        Dm = np.array(
            [
                [p["damp_x"], 0.0, 0.0],
                [0.0, 2.0 * d, -d],
                [0.0, -d, d],
            ]
        )
        Mi = np.linalg.inv(Mm)
        A = np.zeros((6, 6))
        A[:3, 3:] = np.eye(3)
        A[3:, :3] = Mi @ Gm
        A[3:, 3:] = -Mi @ Dm
        B = np.zeros((6, 1))
        B[3:, 0] = Mi @ np.array([p["gear"], 0.0, 0.0])

        # discretise by the series of the matrix exponential of [[A, B], [0, 0]]
        E = np.zeros((7, 7))
        E[:6, :6] = A * DT
        E[:6, 6:] = B * DT
        X = np.eye(7)
        term = np.eye(7)
        for k in range(1, 14):
            term = term @ E / k
            X = X + term
        Ad, Bd = X[:6, :6], X[:6, 6:]

        Q = np.diag(
            [
                10.0 ** p["q_x"],
                10.0 ** p["q_1"],
                10.0 ** p["q_2"],
                10.0 ** p["q_v"],
                10.0 ** p["q_w"],
                10.0 ** p["q_w"],
            ]
        )
        R = np.array([[10.0 ** p["r_u"]]])
        P = Q.copy()
        K = np.zeros((1, 6))
        for _ in range(400):
            S = R + Bd.T @ P @ Bd
            Kn = np.linalg.solve(S, Bd.T @ P @ Ad)
            P = Q + Ad.T @ P @ (Ad - Bd @ Kn)
            P = 0.5 * (P + P.T)
            if np.max(np.abs(Kn - K)) < 1e-9:
                K = Kn
                break
            K = Kn
        return K[0]

    def act(self, obs):
        o = [float(a) for a in obs]
        a = math.atan2(o[1], o[3])
        b = a + math.atan2(o[2], o[4])
        s = np.array([o[0] - self.p["x_ref"], a, b, o[5], o[6], o[6] + o[7]])
        u = -float(self.K @ s)
        if not math.isfinite(u):
            u = 0.0
        return np.array([max(-1.0, min(1.0, u))], dtype=np.float32)


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
