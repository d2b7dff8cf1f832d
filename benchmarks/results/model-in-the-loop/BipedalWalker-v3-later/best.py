"""Policy for BipedalWalker-v3, written by inbox:box.

Held-out mean return 214.238 (95 % interval 181.146 to 247.803; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn -95.6 (-99.4 to -91.8, 50 episodes), the zero action -91.9 (-92 to -91.9, 50 episodes).
Better than the zero action: 214.2 against -91.9 (difference 306 ± 17 over 50 shared episodes), but below the 300 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r4c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

r3c1's machine and standing-leg lean loop with r3c2's landing law and quiet joints; one danger index moves landing and put-down ahead.
"""
import numpy as np

PARAMS = {
    "speed": (0.285, 0.2, 0.42),
    "release": (1.2, 1.0, 1.4),
    "swing_hip": (1.1, 0.85, 1.25),
    "swing_knee": (-0.6, -0.8, -0.35),
    "sup_knee": (0.1, -0.03, 0.25),
    "back": (0.10, -0.03, 0.28),
    "land0": (0.11, -0.05, 0.35),
    "v0": (0.39, 0.28, 0.55),
    "h0": (0.07, 0.0, 0.2),
    "d_h": (0.7, 0.0, 2.5),            # danger per rad of lean
    "d_w": (1.0, 0.0, 5.0),            # danger per unit of lean rate
    "land_d": (1.3, 0.0, 4.0),
    "back_d": (0.6, 0.0, 3.0),
    "push_end": (0.88, 0.7, 1.0),
    "rise": (0.03, 0.0, 0.06),
    "kp_hip": (0.45, 0.3, 0.85),
    "kd_hip": (0.125, 0.0, 0.3),
    "kp_knee": (2.0, 1.2, 3.5),
    "kd_knee": (0.125, 0.0, 0.3),
    "k_hull": (0.48, 0.2, 1.0),
    "k_lean": (0.5, 0.0, 2.0),
    "kd_hull": (0.75, 0.3, 1.5),
    "k_vy": (7.0, 3.0, 10.0),
    "dead": (0.02, 0.0, 0.1),
}

class Policy:
    def __init__(self, params):
        self.p = params
        self.state = 1
        self.mov = 0
        self.ska = params["sup_knee"]

    def act(self, s):
        p = self.p
        m, q = self.mov, 1 - self.mov
        bm, bq = 4 + 5 * m, 4 + 5 * q
        hip, knee = [None, None], [None, None]
        tilt = max(0.0, -s[0] - p["h0"])
        danger = max(0.0, s[2] - p["v0"]) + p["d_h"] * tilt
        if tilt > 0:
            danger += p["d_w"] * max(0.0, -s[1])
        land = min(p["land0"] + p["land_d"] * danger, 0.9)
        back = min(p["back"] + p["back_d"] * danger, 0.5)
        if self.state == 1:
            hip[m], knee[m] = p["swing_hip"], p["swing_knee"]
            self.ska = min(self.ska + p["rise"] * (2 if s[2] > p["speed"] else 1), p["sup_knee"])
            knee[q] = self.ska
            if s[bq] < p["back"] or (s[bq] < back and s[bm] > s[bq] + 0.15):
                self.state = 2
        if self.state == 2:
            hip[m], knee[m], knee[q] = land, p["sup_knee"], self.ska
            if s[bm + 4] > 0.5:
                self.state = 3
                self.ska = min(float(s[bm + 2]), p["sup_knee"])
        if self.state == 3:
            knee[m], knee[q] = self.ska, 1.0
            if s[bq + 2] > p["push_end"] or s[2] > p["release"] * p["speed"]:
                self.state = 1
                self.mov = q
        a = np.zeros(4)
        level = p["k_hull"] * s[0] + p["kd_hull"] * s[1]
        for i in range(2):
            b = 4 + 5 * i
            standing = s[b + 4] > 0.5 or hip[i] is None
            if hip[i] is not None:
                a[2 * i] = p["kp_hip"] * (hip[i] - s[b]) - p["kd_hip"] * s[b + 1]
            if knee[i] is not None:
                a[2 * i + 1] = p["kp_knee"] * (knee[i] - s[b + 2]) - p["kd_knee"] * s[b + 3]
            a[2 * i] += level - (p["k_lean"] * tilt if standing else 0.0)
            a[2 * i + 1] -= p["k_vy"] * s[3]
        a = np.where(np.abs(a) < p["dead"], 0.0, a)
        self.debug = {"state": self.state, "mov": self.mov, "danger": round(float(danger), 2), "land": round(float(land), 2)}
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
