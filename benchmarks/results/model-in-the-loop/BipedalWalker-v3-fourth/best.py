"""Policy for BipedalWalker-v3, written by inbox:box.

Held-out mean return 110.417 (95 % interval 80.2448 to 140.66; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -94.9 (-103.2 to -87.2, 10 episodes), the zero action -91.9 (-91.9 to -91.9, 100 episodes).
Better than the zero action: 110.4 against -91.9 (difference 202 ± 16 over 100 shared episodes), but below the 300 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r2c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Swing, put down, push, swap, with the foot put further ahead the faster the body moves and the more it tips forwards.
Backward rolling ends the swing with a step back; the leg that is behind is the one that pushes. The airborne leg is not used for levelling.
"""
import numpy as np

PARAMS = {
    "speed": (0.35, 0.2, 0.6),       # push-off ends at this x_velocity
    "rise_v": (0.29, 0.15, 0.5),     # above it the stance knee stiffens twice as fast
    "reach": (1.1, 0.7, 1.3),
    "put_at": (0.1, -0.2, 0.4),
    "put_hip": (0.1, -0.2, 0.6),
    "put_v": (2.0, 0.0, 5.0),        # hip target per x_velocity above speed
    "put_back": (1.0, 0.0, 4.0),     # hip target per x_velocity below zero
    "put_h": (0.7, 0.0, 2.0),        # hip target per hull angle tipped forwards
    "knee": (0.1, -0.2, 0.4),
    "k_hip": (0.45, 0.25, 1.2),
    "k_catch": (0.8, 0.3, 2.0),      # hip gain while putting down too fast
    "k_knee": (2.0, 0.8, 4.0),
    "k_level": (0.45, 0.1, 1.5),
    "k_turn": (0.75, 0.1, 2.0),
    "air_level": (0.6, 0.0, 1.0),    # share of levelling in the moving leg in the air
    "k_vy": (7.5, 0.0, 15.0),
    "v_back": (-0.05, -0.2, 0.0),    # x_velocity that ends a swing in a step back
}


def foot(s, leg):
    """Angle of the line from hip to foot; positive: the foot is ahead of the hip."""
    b = 4 + 5 * leg
    return float(s[0] + s[b] + 0.5 * (s[b + 2] - 1.0))


class Policy:
    def __init__(self, params):
        self.p = params
        self.phase = "swing"
        self.m = 0
        self.k = params["knee"]
        self.n = 0

    def to(self, phase):
        self.phase, self.n = phase, 0

    def act(self, s):
        p = self.p
        self.n += 1
        v = float(s[2])
        m, o = self.m, 1 - self.m
        mb, ob = 4 + 5 * m, 4 + 5 * o
        hip, knee = [None, None], [None, None]
        if self.phase == "swing":
            self.k = min(self.k + (0.06 if v > p["rise_v"] else 0.03), p["knee"])
            hip[m], knee[m], knee[o] = p["reach"], -0.6, self.k
            if s[ob] < p["put_at"] or (v < p["v_back"] and self.n > 15):
                self.to("put")
        if self.phase == "put":
            fast = max(0.0, v - p["speed"])
            hip[m] = p["put_hip"] + p["put_v"] * fast + p["put_back"] * min(0.0, v) + p["put_h"] * max(0.0, -float(s[0]))
            hip[m] = float(np.clip(hip[m], -0.7, 1.1))
            knee[m], knee[o] = p["knee"], self.k
            if s[mb + 4] > 0.5:
                self.to("push")
                if foot(s, m) < foot(s, o) and v < 0.05:
                    self.m, m, o = o, o, m
                    mb, ob = ob, mb
                    hip, knee = [None, None], [None, None]
                self.k = min(float(s[mb + 2]), p["knee"])
        if self.phase == "push":
            knee[m], knee[o] = self.k, 1.0
            if s[ob + 2] > 0.88 or v > p["speed"] or self.n > 60:
                self.to("swing")
                self.m = o
        level = p["k_level"] * s[0] + p["k_turn"] * s[1]
        a = np.zeros(4)
        for j in (0, 1):
            b = 4 + 5 * j
            air = j == m and self.phase != "push" and s[b + 4] < 0.5
            a[2 * j] = level * (p["air_level"] if air else 1.0)
            a[2 * j + 1] = -p["k_vy"] * s[3]
            if hip[j] is not None:
                gain = p["k_catch"] if self.phase == "put" and v > p["speed"] else p["k_hip"]
                a[2 * j] += gain * (hip[j] - s[b]) - 0.125 * s[b + 1]
            if knee[j] is not None:
                a[2 * j + 1] += p["k_knee"] * (knee[j] - s[b + 2]) - 0.125 * s[b + 3]
        self.debug = {"phase": self.phase, "moving": m + 1, "k": round(float(self.k), 2),
                      "foot1": round(foot(s, 0), 2), "foot2": round(foot(s, 1), 2)}
        return np.clip(a, -1.0, 1.0).astype(np.float32)


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
