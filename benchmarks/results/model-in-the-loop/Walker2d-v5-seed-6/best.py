"""Policy for Walker2d-v5, written by inbox:box.

Held-out mean return 1752.25 (95 % interval 1751.86 to 1752.64; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn 1.11 (0.123 to 2.08, 100 episodes), the zero action 93.7 (92 to 95.5, 100 episodes).
Better than the zero action: 1752 against 93.7 (difference 1658.53 ± 0.84 over 100 shared episodes).
Candidate r4c3 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Virtual constraints: the swing ankle follows a planned path from lift-off to landing; thigh and knee come from two-link inverse kinematics.
The phase advances with the hip's travel (bounded in time). Landing = c0 + .14 v + kf (v - reference), the reference rises
slowly. The stance hip holds the torso, leaning back as thighs cannot pass forward of it, and cancels the swing hip's torque.
"""
import numpy as np

PARAMS = {
    "stride": (0.3, 0.15, 0.6),     # m of hip travel in a step
    "slow": (36.0, 28.0, 50.0),     # most steps of time in a step
    "quick": (27.0, 18.0, 34.0),    # fewest
    "clear": (0.085, 0.04, 0.14),   # m, ankle's lift
    "reach": (0.7, 0.5, 0.95),      # phase at which the ankle is over its landing place
    "vd": (0.9, 0.3, 2.2),          # m/s in the end
    "c0": (-0.06, -0.16, 0.06),
    "kf": (0.15, 0.05, 0.4),
    "pitch": (-0.52, -0.7, -0.35),
    "kh": (3.0, 1.5, 6.0),
    "dh": (0.15, 0.05, 0.3),
    "kk": (3.2, 1.5, 6.0),
    "stance": (0.1, 0.02, 0.3),
}


def angles(x, down):
    """thigh (world, + = backward) and knee bend that put the ankle x ahead of and down below the hip"""
    r = np.clip(np.hypot(x, down), 0.55, 0.948)
    bend = np.arccos(np.clip((r * r - 0.4525) / 0.45, -1.0, 1.0))
    return np.arctan2(-x, down) - np.arctan2(0.5 * np.sin(bend), 0.45 + 0.5 * np.cos(bend)), bend


class Policy:
    def __init__(self, params):
        self.p = params
        self.t = 0
        self.s = 0.0
        self.sw = 0
        self.start = 0.0
        self.v = 0.0

    def act(self, obs):
        p = self.p
        z, a, w, q, qd = obs[0], obs[1], obs[10], obs[2:8], obs[11:17]
        self.v += 0.15 * (obs[8] - 0.2 * np.cos(a) * w - self.v)
        v = self.v
        ref = 0.4 + (p["vd"] - 0.4) * np.clip((self.t - 100) / 250, 0, 1)

        def ankle(k):
            th = a - q[k]
            ph = th - q[k + 1]
            return -0.45 * np.sin(th) - 0.5 * np.sin(ph), 0.45 * np.cos(th) + 0.5 * np.cos(ph), ph

        x, down, ph = ankle(self.sw)
        height = z - 0.2 * np.cos(a) - down - 0.06 - 0.2 * max(0.0, np.sin(ph - q[self.sw + 2]))
        land = float(np.clip(p["c0"] + 0.14 * v + p["kf"] * (v - ref), -0.25, 0.45))
        if (self.s > 0.65 and height < 0.004 and land - x < 0.15) or self.s >= 1.3:
            self.sw = 3 - self.sw
            self.s = 0.0
            x, down, ph = ankle(self.sw)
            self.start = x
        sw, st = self.sw, 3 - self.sw
        xs, hip, phs = ankle(st)
        self.s += np.clip(v * 0.008 / p["stride"], 1 / p["slow"], 1 / p["quick"])

        r = min(1.0, self.s / p["reach"])
        want_x = self.start + (land - self.start) * r * r * (3 - 2 * r)
        lift = p["clear"] * (np.sin(np.pi * min(1.0, self.s / 0.9 + 0.12)) ** 0.8 if self.s < 0.79 else 0.0)
        if self.s >= 0.9:
            lift = -0.02
        th_d, bend_d = angles(want_x, hip - max(lift, -0.02))
        if lift > 0.0:
            bend_d = max(bend_d, 0.15)
        # where the knee is not yet as planned, the thigh makes up for half of the difference
        th_d = max(th_d + 0.5 * (q[sw + 1] + bend_d), a + 0.03)

        u = np.zeros(6)
        u[sw] = np.clip(p["kh"] * (a - q[sw] - th_d) + p["dh"] * (w - qd[sw]), -0.8, 0.9)
        u[sw + 1] = p["kk"] * (-bend_d - q[sw + 1]) - 0.2 * qd[sw + 1]
        u[sw + 2] = 0.7 * (np.clip(ph, -0.7, 0.75) - q[sw + 2]) - 0.03 * qd[sw + 2]
        u[st] = 1.0 * (p["pitch"] * min(1.0, self.t / 30) - a) - 0.09 * w - u[sw]
        u[st + 1] = 5.0 * (-p["stance"] - q[st + 1]) - 0.2 * qd[st + 1]
        u[st + 2] = 0.7 * (np.clip(phs, -0.7, 0.75) - q[st + 2]) - 0.03 * qd[st + 2]
        u[st + 2] -= np.clip(0.25 * (v - ref - 0.4), 0.0, 0.4)
        self.debug = {"sw": sw, "s": round(float(self.s), 2), "v": round(float(v), 2), "land": round(land, 2),
                      "x": round(float(x), 2), "want": round(float(want_x), 2), "xst": round(float(xs), 2),
                      "height": round(float(height), 3)}
        self.t += 1
        return np.clip(u, -1, 1).astype(np.float32)


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
