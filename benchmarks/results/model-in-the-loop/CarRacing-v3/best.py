"""Policy for CarRacing-v3, written by inbox:box.

Held-out mean return 906.002 (95 % interval 870.495 to 925.11; 10 episodes, seeds 20000000 to 20000009).
On the same seeds random actions earn -30.4 (-32.7 to -28.2, 10 episodes), the zero action -92.8 (-93 to -92.6, 10 episodes).
Solved: the held-out return of 906 reaches 900.
Candidate r2c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Arc tracing as before, driven faster: straights, bends and above all the start, since every frame costs 0.1 until the lap is closed.
"""
import numpy as np

PARAMS = {
    "near": (0.38, 0.1, 0.9),     # steering per radian of the angle at about 20 pixels
    "far": (0.22, 0.0, 0.6),      # the same at about 34 pixels
    "damp": (0.014, 0.0, 0.05),   # steering per column of the gyroscope bar
    "fast": (9.3, 6.0, 14.0),     # speed bar area on straights (about 0.115 per unit of speed)
    "slow": (5.7, 3.5, 9.0),      # the same in sharp bends
    "bend": (1.2, 0.6, 2.0),      # angle (radians) that counts as a sharp bend
    "gas": (0.6, 0.1, 1.0),
}

RADII = list(range(10, 62, 4))
TH = np.linspace(-1.9, 1.9, 153)

class Policy:
    def __init__(self, params):
        self.p = params
        self.t = 0
        self.side = 0.0

    def perceive(self, obs):
        o = obs.astype(int)
        r, g, b = o[..., 0], o[..., 1], o[..., 2]
        road = (abs(r - g) < 18) & (abs(b - g) < 18) & (r > 80) & (r < 135)
        road[84:] = False
        under = int(road[66:78, 42:45].sum() + road[66:78, 51:54].sum())
        road[66:78, 45:51] = True
        prev, angles = 0.0, []
        for R in RADII:
            rows = np.rint(71.5 - R * np.cos(TH)).astype(int)
            cols = np.rint(47.5 + R * np.sin(TH)).astype(int)
            ok = (rows >= 0) & (rows < 84) & (cols >= 0) & (cols < 96)
            hit = np.zeros(len(TH), bool)
            hit[ok] = road[rows[ok], cols[ok]]
            idx = np.nonzero(hit)[0]
            if len(idx) == 0:
                if angles:
                    break
                continue
            runs = np.split(idx, np.nonzero(np.diff(idx) > 1)[0] + 1)
            runs = [k for k in runs if (TH[k[-1]] - TH[k[0]]) * R >= 3.0]
            if not runs:
                if angles:
                    break
                continue
            mids = [0.5 * (TH[k[0]] + TH[k[-1]]) for k in runs]
            best = min(mids, key=lambda a: abs(a - prev))
            if angles and abs(best - prev) > 0.6:
                break
            prev = best
            angles.append((R, best))
        near = far = bend = None
        if angles:
            near = float(np.mean([a for R, a in angles if 14 <= R <= 26] or [angles[0][1]]))
            far = float(np.mean([a for R, a in angles if 30 <= R <= 40] or [angles[-1][1]]))
            bend = float(max(abs(a) for R, a in angles))
        back = None
        if near is None:
            ys, xs = np.nonzero(road[:84] & ~self.car_box())
            if len(ys):
                d = (ys - 71.5) ** 2 + (xs - 47.5) ** 2
                k = np.argsort(d)[:20]
                back = float(np.arctan2(xs[k].mean() - 47.5, 71.5 - ys[k].mean()))
        speed = float(obs[84:95, 12:15].astype(float).mean(2).sum() / 255.0)
        bar = o[85:93, 58:86]
        red = (bar[..., 0] > 100) & (bar[..., 1] < 90) & (bar[..., 2] < 90)
        columns = red.sum(0) >= 3
        gyro = int(columns[14:].sum()) - int(columns[:14].sum())
        return {"near": near, "far": far, "bend": bend, "speed": speed, "gyro": gyro, "under": under,
                "reach": angles[-1][0] if angles else 0, "back": back}

    def car_box(self):
        m = np.zeros((84, 96), bool)
        m[66:78, 45:51] = True
        return m

    def act(self, obs):
        p = self.p
        s = self.perceive(obs)
        self.t += 1
        if s["near"] is None:
            a = s["back"] if s["back"] is not None else self.side
            steer = float(np.clip(0.5 * a, -0.45, 0.45))
            target = 2.5
        else:
            steer = p["near"] * s["near"] + p["far"] * s["far"] - p["damp"] * s["gyro"]
            steer = float(np.clip(steer, -0.5, 0.5))
            self.side = 1.0 if s["near"] > 0 else -1.0
            bend = s["bend"]
            if s["reach"] < 34:
                bend = max(bend, 0.8)
            x = float(np.clip((bend - 0.25) / max(p["bend"] - 0.25, 0.1), 0.0, 1.0))
            target = p["fast"] + (p["slow"] - p["fast"]) * x
            if s["under"] < 20:
                target = min(target, p["slow"])
        if self.t < 45:
            steer = float(np.clip(steer, -0.15, 0.15) if self.t < 30 else np.clip(steer, -0.3, 0.3))
            target = min(target, p["fast"] - 1.5)
        e = target - s["speed"]
        gas = float(np.clip(0.5 * e, 0.0, p["gas"])) * max(0.15, 1.0 - 1.8 * abs(steer))
        brake = float(np.clip(0.3 * (-e - 0.4), 0.0, 0.5))
        return np.array([steer, gas, brake], dtype=np.float32)


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

    action = np.asarray(action, dtype=np.float32).reshape((3,))
    return np.clip(action, np.float32([-1.0, 0.0, 0.0]), np.float32(1.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='CarRacing-v3', help="environment id")
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
