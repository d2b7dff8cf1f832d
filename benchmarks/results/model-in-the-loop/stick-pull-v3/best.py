"""Policy for Meta-World/stick-pull-v3, written by inbox:box.

Held-out mean return 4411.62 (95 % interval 4384.12 to 4433.55; 100 episodes, seeds 20000000 to 20000099).
Success in 99% of them.
On the same seeds random actions earn 11.7876 (10.824 to 12.7738, 100 episodes), the zero action 4.51923 (3.04921 to 6.13068, 100 episodes).
Solved: success in 99% of the test episodes.
Candidate r4c1t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Close while descending, come forward while rising, insert, push with a brake, then hold the hand still.
"""
import numpy as np

PARAMS = {
    "gx": (-0.0108597, -0.02, 0.02),
    "gz": (0.0461078, 0.03, 0.06),
    "k": (14.1747, 8.0, 25.0),
    "hold": (0.131627, 0.07, 0.25),
    "close_z": (0.0338987, 0.015, 0.06),
    "pre": (0.114906, 0.08, 0.2),
    "lose": (-0.04256, -0.07, -0.042),
    "v_catch": (0.695188, 0.3, 1.0),
    "rim": (0.0149719, 0.005, 0.03),
    "ly": (-0.0128027, -0.04, 0.03),
    "lz": (-0.0124855, -0.04, 0.04),
    "tol": (0.0139513, 0.006, 0.04),
    "v_ins": (0.975133, 0.4, 1.0),
    "touch": (-0.0394231, -0.05, -0.028),
    "k_pull": (10.1131, 4.0, 20.0),
    "v_pull": (0.575212, 0.25, 0.9),
    "tau": (6.54782, 0.0, 12.0),
    "stop": (0.0113204, 0.0, 0.035),
    "oy": (-0.00174996, -0.03, 0.04),
}

class Policy:
    def __init__(self, params):
        self.p, self.squeeze, self.home, self.calm = params, 0.0, None, 0

    def act(self, obs):
        p = self.p
        hand, stick, handle, goal = obs[0:3], obs[4:7], obs[11:14], obs[36:39]
        e = stick + np.array([p["gx"], 0.0, p["gz"]]) - hand
        xy = np.linalg.norm(e[:2])
        around = xy < 0.03 and abs(e[2]) < p["close_z"]
        held = self.squeeze >= 1.0 and np.linalg.norm(e) < 0.07
        self.squeeze = min(1.0, self.squeeze + p["hold"]) if around or held else 0.0
        grip = 1.0 if self.squeeze > 0.0 else -1.0
        depth = stick[0] - handle[0]
        v = np.zeros(3)
        if grip < 0:
            v = p["k"] * (e + np.array([0.0, 0.0, min(0.10, 3.8 * max(0.0, xy - p["rim"]))]))
        elif self.squeeze < 1.0:
            v = p["k"] * e * np.array([1.0, 0.0, 1.0])
        else:
            ey = handle[1] + p["ly"] - stick[1]
            v[2] = p["k"] * (handle[2] + p["lz"] - stick[2])
            out = goal - handle - p["tau"] * (handle - obs[29:32])
            still = max(abs(out[0]), abs(out[1] + p["oy"])) < p["stop"] + 0.01 and depth > p["touch"] - 0.005
            self.calm = self.calm + 1 if still else 0
            if self.home is None and self.calm >= 4:
                self.home = hand.copy()              # rest: hold the hand where it is, no integration
            if self.home is not None and (np.linalg.norm((goal - handle)[:2]) > 0.042 or depth < p["lose"]):
                self.home, self.calm = None, 0
            if self.home is not None:
                v = p["k"] * (self.home - hand)
            elif depth < -0.075:                       # before the handle: align, then go in
                off = max(abs(ey), abs(handle[2] + p["lz"] - stick[2])) / p["tol"]
                gate = float(np.clip(2.0 - off, 0.0, 1.0))
                v[0] = max(gate * p["v_ins"], np.clip(p["k"] * (-p["pre"] - depth), -0.3, 1.0))
                if stick[2] < 0.035:
                    v[0] = 0.0
                else:
                    v[1] = p["k"] * ey
            elif depth < p["touch"] - 0.006:         # go on until in touch, no sideways pull yet
                v[0] = p["v_catch"]
            else:                                    # in touch: push in x, pull in y, brake, rest in touch
                if out[0] > p["stop"]:
                    v[0] = min(p["k_pull"] * out[0], p["v_pull"])
                else:
                    v[0] = np.clip(8.0 * (p["touch"] - depth), -0.2, 0.3)
                if abs(out[1] + p["oy"]) > p["stop"]:
                    v[1] = np.clip(p["k_pull"] * (out[1] + p["oy"]), -p["v_pull"], p["v_pull"])
        v = v - 0.34 * (hand - obs[18:21])
        self.debug = {"depth": round(float(depth), 3), "sy": round(float(stick[1] - handle[1]), 3)}
        return np.clip(np.array([v[0], v[1], v[2], grip]), -1, 1).astype(np.float32)


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
    parser.add_argument("--env", default='Meta-World/stick-pull-v3', help="environment id")
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
