"""Policy for Walker2d-v5, written by inbox:box.

Held-out mean return 2766.73 (95 % interval 2764.69 to 2768.79; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn 1.19 (-0.256 to 2.56, 50 episodes), the zero action 93.6 (91.4 to 95.9, 50 episodes).
Better than the zero action: 2767 against 93.6 (difference 2673.1 ± 1.4 over 50 shared episodes).
Candidate r4c2t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Clock-free walk whose lean and push-off are set by a goal speed that rises only while the averaged speed follows it; speed above the goal takes lean away, so it cannot run off.
"""
import math
import numpy as np

PARAMS = {"vend": (2.06188, 1.2, 4.0), "rise": (0.00629528, 0.002, 0.015), "P": (-0.288411, -0.5, 0.1), "lean": (0.398514, 0.0, 1.2),
          "hold": (0.102102, -0.4, 1.5), "ff": (0.831504, 0.3, 1.1), "K": (-0.67196, -1.6, -0.6), "kx": (0.144771, 0.0, 1.5),
          "kx2": (0.292042, -0.2, 1.0), "kv": (0.550396, 0.0, 0.8), "x0": (0.169798, 0.0, 0.35), "dmax": (0.639901, 0.3, 0.65),
          "kp": (3.43319, 1.5, 6.0), "kdt": (0.578049, 0.15, 0.7)}

class Policy:
    def __init__(self, params):
        self.c, self.n, self.st, self.t, self.v, self.u, self.g = params, 0, 0, 0, 0.0, 0.0, 0.82

    def act(self, obs):
        c, p, w, q, dq = self.c, obs[1], obs[10], obs[2:8], obs[11:17]
        self.v += 0.15 * (obs[8] - self.v)
        self.u += 0.03 * (obs[8] - self.u)
        self.t, self.n = self.t + 1, self.n + 1
        if self.n > 60 and abs(self.u - self.g) < 0.5:
            self.g = min(self.g + c["rise"], c["vend"])
        phi = (q[0] - p, q[3] - p)
        shank = (phi[0] + q[1], phi[1] + q[4])
        ax = [0.45 * math.sin(a) + 0.5 * math.sin(b) for a, b in zip(phi, shank)]
        sw = 1 - self.st
        ank = obs[0] - 0.2 * math.cos(p) - 0.45 * math.cos(phi[sw]) - 0.5 * math.cos(shank[sw])
        low = ank + min(0.0, 0.2 * math.sin(shank[sw] + q[3 * sw + 2])) - 0.06
        if (low < 0.01 and ax[sw] > ax[self.st] + 0.05 and self.t > 8) or (-ax[self.st] > c["dmax"] and self.t > 15) or self.t > 100:
            self.st, sw, self.t = sw, self.st, 0
        i, k, d, a = 3 * sw, 3 * self.st, -ax[self.st], np.zeros(6)
        err, more = self.v - self.g, self.g - 0.82
        P = min(c["P"] - c["lean"] * more + c["hold"] * (self.u - self.g), 0.3)
        aim = min(max(0.49 + 0.13 * self.v + 0.05 * err, -0.3), -p + 0.03)
        a[i] = np.clip(c["kp"] * (aim - phi[sw]) - 0.1536 * (dq[i] - w), -1, 1)
        bend = min(max((phi[self.st] - phi[sw]) / 0.3, 0.0), 1.0)
        a[i + 1] = c["kp"] * (c["K"] * bend - 0.08 * (1 - bend) - q[i + 1]) - 0.1536 * dq[i + 1]
        a[i + 2] = min(max(0.1 - shank[sw], -0.6), 0.6) - q[i + 2] - 0.04 * dq[i + 2]
        a[k] = 2.158 * (P - p) - c["kdt"] * w - c["ff"] * a[i]
        a[k + 1] = 2 * c["kp"] * (-0.11 - q[k + 1]) - 0.1536 * dq[k + 1]
        a[k + 2] = -5 * (c["kx"] + c["kx2"] * more) * max(0.0, d - c["x0"]) - c["kv"] * err - 0.05 * dq[k + 2] - 0.5 * q[k + 2]
        self.debug = {"st": self.st, "t": self.t, "d": round(d, 2), "g": round(self.g, 2), "u": round(self.u, 2)}
        return np.clip(a, -1, 1)


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

    action = np.asarray(action, dtype=np.float32).reshape((6,))
    return np.clip(action, np.float32(-1.0), np.float32(1.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='Walker2d-v5', help="environment id")
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
