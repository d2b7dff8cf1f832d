"""Policy for Walker2d-v5, written by inbox:box.

Held-out mean return 1596.3 (95 % interval 1594.08 to 1598.64; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn 1.19 (-0.256 to 2.56, 50 episodes), the zero action 93.6 (91.4 to 95.9, 50 episodes).
Better than the zero action: 1596 against 93.6 (difference 1502.7 ± 1.7 over 50 shared episodes).
Candidate r4c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

SIMBICON walk: half steps of T steps; swing thigh placed in the world frame, stance hip holds the torso, ankle torque follows the speed: slower than v1 less toe-down (the body tips forward), faster more (it brakes). Few numbers, narrow bounds.
"""
import numpy as np

PARAMS = {
    "T": (21.276, 17.0, 26.0),
    "reach": (0.068289, 0.0, 0.16),
    "v0": (0.781832, 0.4, 1.4),
    "pitch0": (-0.304314, -0.4, -0.2),
    "push": (0.401539, 0.1, 0.6),
    "push_v": (0.08, -0.1, 0.5),
    "v1": (0.6, 0.3, 2.0),
    "cv_fast": (0.1, 0.0, 0.4),
    "knee_up": (-0.500364, -0.8, -0.35),
    "push_d": (0.25, 0.15, 0.4),
}
FIXED = {"cv": 0.076826, "cd": 0.107589, "kp_pitch": 3.79156, "kd_pitch": 0.049094, "ff": 0.788643, "kp_hip": 4.17567,
         "kd_hip": 0.221249, "knee_land": -0.178663, "knee_st": -0.163372, "up_share": 0.564289, "ankle": 3.00717, "toe": 0.173644}

class Policy:
    def __init__(self, params):
        self.p = dict(FIXED, **params)
        self.sw = 0
        self.t = 0

    def geometry(self, obs, j):
        th = obs[2 + j] - obs[1]
        shin = th + obs[3 + j]
        foot = shin + obs[4 + j]
        x = 0.45 * np.sin(th) + 0.5 * np.sin(shin)
        h = obs[0] - 0.2 * np.cos(obs[1]) - 0.45 * np.cos(th) - 0.5 * np.cos(shin)
        low = min(h, h + 0.2 * np.sin(foot)) - 0.06
        return th, shin, x, low

    def act(self, obs):
        p = self.p
        pitch, w, vx = obs[1], obs[10], obs[8]
        s, k = 3 * self.sw, 3 * (1 - self.sw)
        low = self.geometry(obs, s)[3]
        if self.t >= p["T"] or (self.t > 0.6 * p["T"] and low < 0.01):
            self.sw = 1 - self.sw
            self.t = 0
            s, k = k, s
        self.t += 1
        th, shin, xs, low = self.geometry(obs, s)
        thk, shink, xk, lowk = self.geometry(obs, k)
        d = -xk  # hip ahead of the stance ankle
        a = np.zeros(6)
        target = p["reach"] + p["cv"] * (vx - p["v0"]) + p["cd"] * d + p["cv_fast"] * max(0.0, vx - 0.9)
        target = min(target, 0.05 - pitch)
        u = p["kp_hip"] * (target - th) - p["kd_hip"] * (obs[11 + s] - w)
        u = float(np.clip(u, -1, 1))
        a[s] = u
        kn = p["knee_up"] if self.t < p["up_share"] * p["T"] else p["knee_land"]
        a[s + 1] = 3.0 * (kn - obs[3 + s]) - 0.15 * obs[12 + s]
        a[s + 2] = 1.2 * (-shin + p["toe"] - obs[4 + s]) - 0.04 * obs[13 + s]
        a[k] = p["kp_pitch"] * (p["pitch0"] - pitch) - p["kd_pitch"] * w - p["ff"] * u
        a[k + 1] = 5.0 * (p["knee_st"] - obs[3 + k]) - 0.15 * obs[12 + k]
        a[k + 2] = p["ankle"] * (-shink - obs[4 + k]) - 0.04 * obs[13 + k] - p["push"] * np.clip(d / p["push_d"], 0.0, 1.0) + np.clip(p["push_v"] * (p["v1"] - vx), -0.3, 0.2)
        self.debug = {"swing": self.sw, "t": self.t, "d": round(float(d), 2), "low": round(float(low), 2)}
        return np.clip(a, -1, 1).astype(np.float32)


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
