"""Policy for Reacher-v5, written by replay:Reacher-v5.

Held-out mean return -4.18526 (95 % interval -4.76926 to -3.57697; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c1t of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    "l1": (0.109675, 0.09, 0.11),
    "l2": (0.112424, 0.09, 0.12),
    "kp1": (0.446475, 0.02, 1.5),
    "kd1": (0.0684111, 0.005, 0.3),
    "kp2": (0.568091, 0.02, 1.5),
    "kd2": (0.0929284, 0.005, 0.3),
    "u_max": (0.278539, 0.05, 1.0),
    "w_elbow": (0.532256, 0.2, 3.0),  # weight of elbow travel when choosing a solution
    "deadband": (0.000595369, 0.0, 0.03),
}


def wrap(a):
    return (a + math.pi) % (2.0 * math.pi) - math.pi


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.elbow = None

    def ik(self, x, y, sign):
        l1, l2 = self.p["l1"], self.p["l2"]
        r2 = x * x + y * y
        c2 = (r2 - l1 * l1 - l2 * l2) / (2.0 * l1 * l2)
        c2 = max(-1.0, min(1.0, c2))
        q2 = sign * math.acos(c2)
        q1 = math.atan2(y, x) - math.atan2(l2 * math.sin(q2), l1 + l2 * math.cos(q2))
        return q1, q2

    def act(self, obs):
        p = self.p
        c1, c2, s1, s2, tx, ty, w1, w2, dx, dy = [float(v) for v in obs]
        q1 = math.atan2(s1, c1)
        q2 = math.atan2(s2, c2)

        if self.elbow is None:
            best = None
            for sign in (1.0, -1.0):
                g1, g2 = self.ik(tx, ty, sign)
                # the elbow cannot turn through pi, so its error is not wrapped
                cost = abs(wrap(g1 - q1)) + p["w_elbow"] * abs(g2 - q2)
                if best is None or cost < best[0]:
                    best = (cost, sign)
            self.elbow = best[1]

        g1, g2 = self.ik(tx, ty, self.elbow)
        e1 = wrap(g1 - q1)
        e2 = g2 - q2
        dist = math.hypot(dx, dy)
        if dist < p["deadband"]:
            e1 = e2 = 0.0
        u1 = p["kp1"] * e1 - p["kd1"] * w1
        u2 = p["kp2"] * e2 - p["kd2"] * w2
        m = p["u_max"]
        return np.clip(np.array([u1, u2]), -m, m).astype(np.float32)


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
    parser.add_argument("--env", default='Reacher-v5', help="environment id")
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
