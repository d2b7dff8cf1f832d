"""Policy for ale_py:ALE/Pong-v5, written by inbox:box.

Held-out mean return -0.2 (95 % interval -1.6 to 1.2; 5 episodes, seeds 20000000 to 20000004).
On the same seeds random actions earn -20.4 (-20.8 to -20, 5 episodes), the zero action -21 (-21 to -21, 5 episodes).
Better than random actions: -0.2 against -20.4 (difference 20.20 ± 0.97 over 5 shared episodes).
Candidate r2c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

The paddle's resting row is kept on the predicted crossing row, with a dead zone.
"""
import numpy as np

# Pieces for looking at pictures, as promptpo's module `looking` has them.


def threshold(picture, low, high):
    """Mask of pixels from `low` to `high`, both included: numbers, or one for each channel, all of which must fit."""
    picture = np.asarray(picture)
    inside = (picture >= np.asarray(low)) & (picture <= np.asarray(high))
    return inside if inside.ndim == 2 else inside.all(axis=2)


def coloured(picture, colour, tolerance=20):
    """Mask of pixels whose channels are all within `tolerance` of a colour, for example ``(255, 0, 0)``."""
    picture = np.asarray(picture, dtype=int)
    return threshold(picture, np.asarray(colour) - tolerance, np.asarray(colour) + tolerance)


PARAMS = {
    "glide": (18.0, 6.0, 26.0),   # px that the paddle still moves after a moving action
    "front": (138.0, 132.0, 142.0),
    "dead": (8.0, 3.0, 14.0),     # px
}
LO, HI, MID = 35.5, 191.5, 113.5


def fold(x):
    y = (x - LO) % (2 * (HI - LO))
    return LO + (y if y <= HI - LO else 2 * (HI - LO) - y)


def middle(mask):
    r = np.nonzero(mask)[0]
    return None if not len(r) else 34 + (float(r[0]) + float(r[-1])) / 2


class Policy:
    def __init__(self, params):
        self.p = params
        self.last = self.v = self.pad = None
        self.dir = 0
        self.side = 1

    def perceive(self, obs):
        f = obs[34:194]
        ball = coloured(f, (236, 236, 236), 15)
        cols = np.nonzero(ball.any(axis=0))[0]
        return {"row": middle(ball.any(axis=1)), "col": float(cols.mean()) if len(cols) else None,
                "me": middle(coloured(f[:, 140:144], (92, 186, 92), 15).any(axis=1)),
                "foe": middle(coloured(f[:, 16:20], (213, 130, 74), 15).any(axis=1))}

    def cross(self, s):
        """Row where the ball reaches the paddle, and in how many steps; None while it goes away."""
        row, col = s["row"], s["col"]
        if row is None:
            self.last = self.v = None
            return None
        if self.last is not None:
            dr, dc = row - self.last[0], col - self.last[1]
            if abs(dr) > 30 or abs(dc) > 30:
                self.v = None
            else:
                if self.v is not None and dc * self.v[1] > 0 and (row < 62 or row > 165) and abs(dr) < abs(self.v[0]) - 0.9:
                    dr = abs(self.v[0]) * (1 if row < MID else -1)   # a bounce within the step
                self.v = (dr, dc)
        self.last = (row, col)
        if self.v is None or self.v[1] < 0.5 or col > 141:
            return None
        n = max(0.0, (self.p["front"] - col) / self.v[1])
        return fold(row + self.v[0] * n), n

    def act(self, obs):
        s = self.perceive(obs)
        me = s["me"]
        if me is None:
            self.dir = 0
            return 0
        speed = 0.0 if self.pad is None else me - self.pad
        self.pad = me
        found = self.cross(s)
        if found is None:
            target, n = MID, 40.0
        else:
            target, n = found
        rest = me + (self.p["glide"] * self.dir if self.dir else 0.5 * speed)
        err = target - rest
        self.dir = d = 0 if abs(err) < self.p["dead"] else (1 if err > 0 else -1)
        self.debug = {"target": round(float(target), 1), "err": round(float(err), 1), "n": round(float(n), 1),
                      "vr": None if self.v is None else round(float(self.v[0]), 1), "vc": None if self.v is None else round(float(self.v[1]), 1)}
        return {0: 0, 1: 3, -1: 2}[d]


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
    """What the policy returned, as the environment wants it."""
    import numpy as np

    return int(np.asarray(action).item())


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='ale_py:ALE/Pong-v5', help="environment id")
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
