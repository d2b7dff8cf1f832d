"""Policy for BipedalWalker-v3, written by inbox:box.

Held-out mean return 295.495 (95 % interval 284.284 to 304.733; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -97.5 (-100.1 to -94.9, 100 episodes), the zero action -91.9 (-91.9 to -91.9, 100 episodes).
Better than the zero action: 295.5 against -91.9 (difference 387.4 ± 5.4 over 100 shared episodes), but below the 300 that counts as solved. knee_swing, k_stance stand at the end of their ranges: widen them in PARAMS of the exported policy and go on from there (--start).
Candidate r3c2t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Oscillator with events: the phase gives the rhythm, but the support hip passing a limit lowers the swing leg at once, and a
contact of the swing foot while the support foot is off changes legs; the landed knee starts from its touch-down angle.
"""
import numpy as np

PARAMS = {
    "half": (44.0134, 24.0, 60.0),
    "hip_fwd": (0.992988, 0.7, 1.3),
    "hip_land": (0.447994, 0.2, 0.9),
    "hip_back": (-0.111573, -0.5, 0.4),
    "knee_swing": (-0.697042, -0.7, -0.1),
    "knee_stand": (-0.0198152, -0.2, 0.5),
    "knee_push": (0.534026, 0.3, 1.1),
    "push_from": (0.388071, 0.2, 1.0),
    "lower_from": (0.578478, 0.3, 0.85),
    "put_at": (-0.22617, -0.5, 0.3),      # support hip from which the swing leg is lowered
    "k_swing": (0.910099, 0.4, 2.0),
    "k_stance": (0.00224224, 0.0, 0.6),
    "k_knee": (3.66163, 1.5, 5.0),
    "knee_rate": (0.141025, 0.02, 0.3),    # a step, from the touch-down angle to knee_stand
    "kb": (1.26616, 0.3, 2.5),
    "kw": (1.54561, 0.4, 4.0),
    "k_vy": (7.46764, 0.0, 15.0),
    "k_vy_swing": (1.50722, 0.0, 12.0),
    "lean": (-0.0792257, -0.2, 0.1),
    "v_ref": (0.3519, 0.2, 0.6),
    "land_v": (0.872096, 0.0, 2.5),
}


class Policy:
    def __init__(self, params):
        self.p = params
        self.phi = 0.4
        self.swing = 0
        self.wait = 0
        self.knee = params["knee_stand"]

    def act(self, s):
        p = self.p
        m, u = self.swing, 1 - self.swing
        bm, bu = 4 + 5 * m, 4 + 5 * u
        fast = s[2] - p["v_ref"]
        forward = max(0.0, -s[0] - 0.08)
        land = float(np.clip(p["hip_land"] + p["land_v"] * max(fast, -0.2) + 1.5 * forward, 0.0, 1.1))
        self.phi += 1.0 / p["half"]
        if s[bu] < p["put_at"] and 0.15 < self.phi < p["lower_from"] and s[bm] > 0.4:
            self.phi = p["lower_from"]
        ahead = s[bm] > s[bu]
        lone = s[bu + 4] <= 0 and s[bm] > s[bu] + 0.4 and self.phi > 0.25
        down = s[bm + 4] > 0 and ahead and (self.phi > 0.5 or lone)
        if self.phi >= 1.0:
            self.phi = 1.0
            self.wait += 1
        if down or self.wait > 25:
            self.phi, self.wait = 0.0, 0
            self.swing = u
            m, u = self.swing, 1 - self.swing
            bm, bu = 4 + 5 * m, 4 + 5 * u
            self.knee = float(min(s[bu + 2], p["knee_stand"]))
        self.knee = min(self.knee + p["knee_rate"], p["knee_stand"])
        f = self.phi
        if f < p["lower_from"]:
            hip_m, knee_m = p["hip_fwd"], p["knee_swing"]
        else:
            g = min(1.0, (f - p["lower_from"]) / (1.0 - p["lower_from"]) * 1.5)
            hip_m = (1 - g) * p["hip_fwd"] + g * land
            knee_m = (1 - g) * p["knee_swing"] + g * (p["knee_stand"] + 0.2 * min(1.0, self.wait / 10.0))
        hip_u = p["hip_land"] + (p["hip_back"] - p["hip_land"]) * f
        knee_u = self.knee
        if f > p["push_from"] and fast < 0.05 and forward == 0:
            knee_u += (p["knee_push"] - p["knee_stand"]) * min(1.0, (f - p["push_from"]) / 0.2)
        balance = p["kb"] * (s[0] - p["lean"]) + p["kw"] * s[1]
        a = np.zeros(4)
        a[2 * m] = p["k_swing"] * (hip_m - s[bm]) - 0.2 * s[bm + 1] + (0.4 * balance if forward == 0 else 0.0)
        a[2 * u] = p["k_stance"] * (hip_u - s[bu]) - 0.1 * s[bu + 1] + balance
        a[2 * m + 1] = p["k_knee"] * (knee_m - s[bm + 2]) - 0.2 * s[bm + 3]
        if f > p["lower_from"]:
            a[2 * m + 1] -= p["k_vy_swing"] * s[3]
        a[2 * u + 1] = p["k_knee"] * (knee_u - s[bu + 2]) - 0.2 * s[bu + 3] - p["k_vy"] * s[3]
        self.debug = {"phase": float(f), "swing": m + 1, "vx": float(s[2]), "wait": self.wait, "land": land,
                      "hip_sw": float(s[bm]), "hip_su": float(s[bu]), "c_su": int(s[bu + 4] > 0)}
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

    action = np.asarray(action, dtype=np.float32).reshape((4,))
    return np.clip(action, np.float32(-1.0), np.float32(1.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='BipedalWalker-v3', help="environment id")
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
