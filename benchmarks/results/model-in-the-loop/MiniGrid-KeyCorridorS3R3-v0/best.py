"""Policy for MiniGrid-KeyCorridorS3R3-v0, written by inbox:box.

Held-out mean return 0.919633 (95 % interval 0.915466 to 0.923933; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn 0 (0 to 0, 100 episodes), the zero action 0 (0 to 0, 100 episodes).
Better than random actions: 0.92 against 0 (difference 0.92 ± 0.0022 over 100 shared episodes).
Candidate r1c3 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Goal choice by cost = steps to the goal + bias(kind, side) + gain * rows between it and the locked door.
Map by dead reckoning from the start (0,0), in the corridor; left rooms have x = -2, right rooms x = 2.
The smallest cost is followed by a shortest path over (cell, facing); a goal in progress keeps a small bonus (hysteresis).
"""
from collections import deque
import numpy as np

PARAMS = {
    "row_gain": (0.4, 0.0, 3.0),     # per row between a left door and the locked door
    "inner_bias": (2.0, -5.0, 15.0), # doors between two left rooms
    "left_look": (1.0, -5.0, 15.0),  # unknown cells on the left side
    "any_look": (6.0, 0.0, 30.0),    # unknown cells elsewhere
    "right_door": (20.0, 0.0, 60.0), # closed doors on the right side
    "stay": (0.6, 0.0, 4.0),         # bonus of the goal of the step before
}
VEC = ((1, 0), (0, 1), (-1, 0), (0, -1))
L, R, F, PICK, DROP, TOGGLE = 0, 1, 2, 3, 4, 5


def walkable(c):
    return c is not None and (c[0] in (1, 3, 8) or (c[0] == 4 and c[2] == 0))


class Policy:
    def __init__(self, params):
        self.k = params
        self.px = self.py = self.d = 0
        self.grid, self.before, self.done = {}, None, None
        self.lock, self.goal = None, None

    def sense(self, obs):
        if self.done == F and walkable(self.before):
            self.px += VEC[self.d][0]
            self.py += VEC[self.d][1]
        self.d = int(obs["direction"])
        vx, vy = VEC[self.d]
        view = np.asarray(obs["image"]).astype(int)
        for i in range(7):
            for j in range(7):
                if view[i, j, 0] == 0 or (i == 3 and j == 6):
                    continue
                s, n = i - 3, 6 - j
                at = (self.px + n * vx - s * vy, self.py + n * vy + s * vx)
                self.grid[at] = tuple(view[i, j].tolist())
                if view[i, j, 0] == 4 and view[i, j, 2] == 2:
                    self.lock = at
        self.grid.setdefault((self.px, self.py), (1, 0, 0))
        self.before = tuple(view[3, 5].tolist())
        self.held = int(view[3, 6, 0])

    def paths(self):
        """cell faced -> (steps, first action or None when faced already)."""
        start = (self.px, self.py, self.d)
        seen, queue, out = {start: (0, None)}, deque([start]), {}
        while queue:
            s = queue.popleft()
            x, y, d = s
            n, first = seen[s]
            ahead = (x + VEC[d][0], y + VEC[d][1])
            out.setdefault(ahead, (n, first))
            moves = [((x, y, (d + 3) % 4), L), ((x, y, (d + 1) % 4), R)]
            if walkable(self.grid.get(ahead)):
                moves.insert(0, ((ahead[0], ahead[1], d), F))
            for s2, a in moves:
                if s2 not in seen:
                    seen[s2] = (n + 1, a if first is None else first)
                    queue.append(s2)
        return out

    def goals(self):
        """List of (cell, bias, action when faced)."""
        g, k = self.grid, self.k
        unlocked = self.lock is not None and g[self.lock][2] == 0
        if self.held in (5, 6, 7) and unlocked:
            return [(w, 0.0, DROP) for w, c in g.items() if c[0] == 1 and w != (self.px, self.py)]
        out = []
        if self.held == 5 and self.lock is not None:
            out.append((self.lock, -100.0, TOGGLE))
        for w, c in g.items():
            if c[0] == 6 and self.held not in (5, 6, 7):
                out.append((w, -200.0, PICK))
            elif c[0] == 5 and self.held not in (5, 6, 7) and not unlocked:
                out.append((w, -100.0, PICK))
            elif c[0] == 4 and c[2] == 1:
                bias = k["right_door"]
                if w[0] < 0:
                    bias = 0.0 if w[0] == -1 else k["inner_bias"]
                    if self.lock is not None:
                        bias += k["row_gain"] * abs(w[1] - self.lock[1])
                out.append((w, bias, TOGGLE))
        unknown = set()
        for (x, y), c in g.items():
            if walkable(c):
                for vx, vy in VEC:
                    w = (x + vx, y + vy)
                    if w not in g:
                        unknown.add(w)
        for w in unknown:
            if self.held == 5:
                bias = -50.0 if w[0] > 0 else k["any_look"]  # the locked door has to be on the right
            else:
                bias = k["left_look"] if w[0] < 0 else k["any_look"]
            out.append((w, bias, F))
        return out

    def act(self, obs):
        self.sense(obs)
        paths = self.paths()
        best = None
        for w, bias, use in self.goals():
            if w not in paths:
                continue
            n, first = paths[w]
            cost = n + bias - (self.k["stay"] if w == self.goal else 0.0)
            if best is None or cost < best[0]:
                best = (cost, w, use if first is None else first)
        if best is None:
            self.goal, action = None, L
        else:
            self.goal, action = best[1], best[2]
        self.done = action
        self.debug = {"x": self.px, "y": self.py, "gx": self.goal[0] if self.goal else 99,
                      "gy": self.goal[1] if self.goal else 99, "held": self.held}
        return action


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
    parser.add_argument("--env", default='MiniGrid-KeyCorridorS3R3-v0', help="environment id")
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
