"""Policy for ale_py:ALE/Breakout-v5, written by inbox:box.

Held-out mean return 17.6 (95 % interval 16.2 to 19; 5 episodes, seeds 20000000 to 20000004).
On the same seeds random actions earn 2 (1 to 2.8, 5 episodes), the zero action 0 (0 to 0, 5 episodes).
Better than random actions: 17.6 against 2 (difference 15.6 ± 1.1 over 5 shared episodes).
Candidate r3c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Paddle settled under the predicted landing, with the offset that sends the ball where most bricks are gone; calm while it rises.
"""
import numpy as np

PARAMS = {
    "glide": (11.0, 4.0, 18.0),   # px that the paddle still moves after a moving action
    "fine": (2.5, 1.0, 9.0),      # px of error that is left while there is time
    "late": (8.0, 5.0, 12.0),     # px of error that is left when the ball is near
    "land": (186.0, 180.0, 190.0),
}
RED = np.array([200, 72, 72])
LO, HI = 8.5, 150.5
CENTRES = [59, 65, 71, 77, 83, 89]
BOTTOMS = [62, 68, 74, 80, 86, 92]


def landing(row, col, dr, dc, floor, land):
    """Column and steps until the ball comes down to row land, bouncing off walls and the lowest bricks."""
    n = 0.0
    above = row < 57
    for _ in range(600):
        row, col, n = row + dr / 4, col + dc / 4, n + 0.25
        if col < LO:
            col, dc = 2 * LO - col, -dc
        elif col > HI:
            col, dc = 2 * HI - col, -dc
        if dr < 0:
            j = min(17, max(0, int((col - 8) // 8)))
            top = 31 if above else floor[j]
            if row - 2 <= top:
                dr = -dr
        elif row >= land:
            return col, n
    return None


class Policy:
    def __init__(self, params):
        self.p = params
        self.last = None      # ball before
        self.v = None         # velocity estimate
        self.dir = 0          # last commanded direction
        self.width = 16
        self.offset = 0.0
        self.gone = 0
        self.hits = 0         # contacts with the paddle since this ball was served

    def perceive(self, obs):
        f = obs[32:189, 8:152].astype(int)
        m = np.abs(f - RED).max(axis=2) <= 12
        m[57 - 32:63 - 32] = False
        r, c = np.nonzero(m)
        row = col = None
        if len(r):
            row, col = 32 + (r.min() + r.max()) / 2.0, 8 + (c.min() + c.max()) / 2.0
        q = np.nonzero((np.abs(obs[190, 8:152].astype(int) - RED).max(axis=1)) <= 12)[0]
        paddle = None
        if len(q):
            left, right = int(q[0]) + 8, int(q[-1]) + 8
            if right < 151 and left > 8 and 5 < right - left + 1 <= 16:
                self.width = right - left + 1
            paddle = left + (self.width - 1) / 2.0
        floor = []
        there = obs[CENTRES][:, 12:152:8].max(axis=2) > 0
        for j in range(18):
            rows = np.nonzero(there[:, j])[0]
            floor.append(BOTTOMS[rows[-1]] if len(rows) else 31)
        return {"row": row, "col": col, "paddle": paddle, "width": self.width, "bricks": int(there.sum()), "floor": floor}

    def act(self, obs):
        s = self.perceive(obs)
        row, col, pad = s["row"], s["col"], s["paddle"]
        if row is None or pad is None:
            if row is None:
                self.gone += 1
                if self.gone > 3:
                    self.hits = 0
            self.last = self.v = None
            self.dir = 0
            self.debug = {"target": None}
            return 1
        self.gone = 0
        if self.last is not None:
            dr, dc = row - self.last[0], col - self.last[1]
            if self.v is not None:
                turned = dr * self.v[0] < 0
                near = col < 26 or col > 134
                if near and not turned and abs(dc) < abs(self.v[1]) - 0.6:
                    dc = abs(self.v[1]) * (1 if col < 80 else -1)
                if turned and abs(dr) < abs(self.v[0]):
                    dr = abs(self.v[0]) * np.sign(dr)
                if turned and dr < 0 and row > 140:
                    self.hits += 1
            self.v = (dr, dc)
        self.last = (row, col)
        p = self.p
        half = s["width"] / 2.0
        found = None
        if self.v is not None and abs(self.v[0]) > 0.5:
            found = landing(row, col, self.v[0], self.v[1], s["floor"], p["land"])
        if found is None:
            target, n = col, 20.0
            where = target
        else:
            target, n = found
            where = target
            if self.v[0] > 0:
                if n > 4:
                    self.offset = self.choose(target, s["floor"])
                target -= self.offset
            elif abs(self.v[0]) < 10:
                target = 0.5 * col + 39.75      # the bounce off the bricks is uncertain: stay near
        target = min(max(target, 7.5 + half), 143.5 + half)
        rest = pad + p["glide"] * self.dir
        rest = min(max(rest, 7.5 + half), 143.5 + half)
        err = target - rest
        d = 0
        falling = self.v is None or self.v[0] > 0
        if n <= 4:
            miss = where - rest                    # late: only the ball counts, not the offset
            if abs(miss) > p["late"] and n > 0.6:
                d = 1 if miss > 0 else -1
        elif abs(err) > (p["fine"] if falling else 12.0) and not (self.dir != 0 and abs(err) < 14):
            d = 1 if err > 0 else -1
        self.dir = d
        self.debug = {"target": round(float(target), 1), "err": round(float(err), 1), "n": round(float(n), 1),
                      "offset": round(float(self.offset), 1),
                      "vr": None if self.v is None else float(self.v[0]), "vc": None if self.v is None else float(self.v[1])}
        return 2 if d > 0 else 3 if d < 0 else 0

    def shots(self):
        """Columns per row of the ball after the next contact: near the middle, and at the edge."""
        if abs(self.v[0]) > 10:
            return 0.25, 0.57
        return (0.25, 0.75) if self.hits >= 3 else (0.67, 1.5)

    def choose(self, where, floor):
        """Offset of the ball from the paddle's middle; its sign is the side that the ball leaves to."""
        middle, edge = self.shots()
        best, pick = -1e9, self.offset
        for o, k in ((-2.2, -middle), (2.2, middle), (-6.2, -edge), (6.2, edge)):
            x = (where + k * (187 - 90) - LO) % (2 * (HI - LO))
            x = LO + (x if x <= HI - LO else 2 * (HI - LO) - x)
            j = min(17, max(0, int((x - 8) // 8)))
            worth = sum((92 - floor[min(17, max(0, i))]) / 6.0 for i in (j - 1, j, j, j + 1)) / 4.0
            worth -= 0.5 if abs(o) > 5 else 0.0          # an edge is missed more easily
            worth += 0.3 if o == self.offset else 0.0
            if worth > best:
                best, pick = worth, o
        return pick


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
    parser.add_argument("--env", default='ale_py:ALE/Breakout-v5', help="environment id")
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
