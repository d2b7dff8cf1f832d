"""Policy for MiniGrid-KeyCorridorS3R3-v0, written by inbox:box.

Held-out mean return 0.922233 (95 % interval 0.918633 to 0.925867; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn 0 (0 to 0, 100 episodes), the zero action 0 (0 to 0, 10 episodes).
Better than random actions: 0.922 against 0 (difference 0.922 ± 0.00187 over 100 shared episodes).
Candidate r1c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Prior layout plus expected-cost search: corridor x=3, key in a left room (1, 1/3/5), locked door at (4, r).
Stages: search left rooms, take key, unlock, drop the key beside, take the ball.
"""
import heapq
import numpy as np

PARAMS = {
    "unknown_slot": (1.5, 0.0, 6.0),  # extra cost of counting on a door not yet seen
    "inner_tail": (3.0, 0.0, 8.0),    # extra way back to the corridor from a room entered from inside
    "tail_weight": (1.0, 0.0, 2.0),   # weight of the way from key to locked door
}

D = [(1, 0), (0, 1), (-1, 0), (0, -1)]
INF = 1e9


class Policy:
    def __init__(self, params):
        self.p = params
        self.m = {}          # cells relative to the start
        self.rx = self.ry = 0
        self.off = 3         # map row of the start
        self.moved = None
        self.lock = None     # relative cell of the locked door
        self.t = 0

    # ---------- map ----------
    def look(self, im, d):
        fx, fy = D[d]
        gx, gy = D[(d + 1) % 4]
        for i in range(7):
            for j in range(7):
                f, r = 6 - j, i - 3
                o, k, s = (int(v) for v in im[i, j])
                c = (self.rx + f * fx + r * gx, self.ry + f * fy + r * gy)
                if f == 0 and r == 0:
                    if c not in self.m or self.m[c][0] != 4:
                        self.m[c] = (1, 0, 0)
                    continue
                if o == 0:
                    continue
                self.m[c] = (o, k, s)
                if o == 4 and s == 2:
                    self.lock = c

    def fits(self, off):
        bad = 0
        for (x, y), c in self.m.items():
            ax, ay = x + 3, y + off
            wall = c[0] == 2
            if ax < 0 or ax > 6 or ay < 0 or ay > 6:
                bad += 1
            elif ax == 3:
                bad += wall != (ay in (0, 6))
            elif ax in (2, 4) and ay % 2 == 0:
                bad += not wall
        return bad

    def kind(self, c):
        x, y = c
        v = self.m.get((x - 3, y - self.off))
        if v is not None:
            if v[0] == 2:
                return "W"
            if v[0] == 4:
                return "OCL"[v[2]] if v[2] < 3 else "C"
            return "." if v[0] in (1, 3, 8) else "B"
        if x <= 0 or x >= 6 or y <= 0 or y >= 6 or (x % 2 == 0 and y % 2 == 0):
            return "W"
        if x == 3:
            return "."
        if x >= 4:
            return "W"
        if x % 2 == 1 and y % 2 == 1:
            return "U"
        return "?"

    def paths(self, start, opened):
        kinds = {}
        dist = {start: 0.0}
        first = {start: None}
        heap = [(0.0, start)]
        while heap:
            g, s = heapq.heappop(heap)
            if g > dist[s]:
                continue
            x, y, d = s
            c = (x + D[d][0], y + D[d][1])
            if c not in kinds:
                kinds[c] = self.kind(c)
            k = kinds[c]
            if k in ".O" or c in opened:
                e, a = 1.0, 2
            elif k == "U":
                e, a = 1.5, 2
            elif k == "C":
                e, a = 2.0, 5
            elif k == "?":
                e, a = 2.0 + self.p["unknown_slot"], 2
            else:
                e, a = INF, 2
            for n, w, b in (((x, y, (d + 3) % 4), 1.0, 0), ((x, y, (d + 1) % 4), 1.0, 1),
                            ((c[0], c[1], d), e, a)):
                if w < INF and g + w < dist.get(n, INF):
                    dist[n] = g + w
                    first[n] = b if first[s] is None else first[s]
                    heapq.heappush(heap, (g + w, n))
        return dist, first

    # ---------- search for the key ----------
    def poses(self, y):
        out = [((3, y, 2), (2, y))]
        if y > 1:
            out.append(((1, y - 2, 1), (1, y - 1)))
        if y < 5:
            out.append(((1, y + 2, 3), (1, y + 1)))
        return out

    def tail(self, slot):
        rows = [self.lock[1] + self.off] if self.lock is not None else [1, 3, 5]
        total = 0.0
        for r in rows:
            dy = abs(slot[1] - r)
            total += 3.0 + dy + (2.0 if dy else 0.0)
        total /= len(rows)
        if slot[0] == 1:
            total += self.p["inner_tail"]
        return total * self.p["tail_weight"]

    def search(self, state, opened, rooms):
        key = (state, opened, rooms)
        if key in self.memo:
            return self.memo[key]
        dist, _ = self.paths(state, opened)
        best = (INF, None)
        n = len(rooms)
        for y in rooms:
            for pose, slot in self.poses(y):
                k = self.kind(slot)
                if k not in "CO?" or pose not in dist:
                    continue
                c = dist[pose]
                if slot not in opened:
                    if k == "C":
                        c += 1.0
                    elif k == "?":
                        c += 1.0 + self.p["unknown_slot"]
                v = c + (2.0 + self.tail(slot)) / n
                if n > 1:
                    rest = tuple(r for r in rooms if r != y)
                    sub = self.search(pose, opened | frozenset([slot]), rest)[0]
                    v += min(sub, 200.0) * (n - 1) / n
                if v < best[0]:
                    best = (v, (pose, slot))
        self.memo[key] = best
        return best

    def goto_facing(self, state, target):
        dist, first = self.paths(state, frozenset())
        best, act = INF, None
        for d in range(4):
            s = (target[0] - D[d][0], target[1] - D[d][1], d)
            if s in dist and dist[s] < best:
                best, act = dist[s], (first[s] if s != state else "here")
        return act

    # ---------- main ----------
    def act(self, obs):
        im = np.asarray(obs["image"])
        d = int(obs["direction"])
        if self.moved is not None:
            self.rx += self.moved[0]
            self.ry += self.moved[1]
        self.look(im, d)
        self.off = min((3, 2, 4), key=self.fits)
        a = self.choose(im, d)
        if a is None:
            a = self.wander(im)
        o, s = int(im[3, 5, 0]), int(im[3, 5, 2])
        passable = o in (1, 3, 8) or (o == 4 and s == 0)
        if a == 2 and not passable:
            a = 5 if (o == 4 and s == 1) else self.t % 2
        self.moved = D[d] if a == 2 else None
        self.t += 1
        return int(a)

    def wander(self, im):
        o, s = int(im[3, 5, 0]), int(im[3, 5, 2])
        if o == 4 and s == 1:
            return 5
        if (o in (1, 3) or o == 4 and s == 0) and self.t % 7 < 5:
            return 2
        return (self.t // 7) % 2

    def choose(self, im, d):
        x, y = self.rx + 3, self.ry + self.off
        state = (x, y, d)
        carry = int(im[3, 6, 0])
        ahead = (x + D[d][0], y + D[d][1])
        lock = None if self.lock is None else (self.lock[0] + 3, self.lock[1] + self.off)
        unlocked = lock is not None and self.m[self.lock][2] != 2
        if unlocked:
            if carry == 5:
                if int(im[3, 5, 0]) == 1 and ahead[0] == 3:
                    return 4
                for turn, nd in ((0, (d + 3) % 4), (1, (d + 1) % 4)):
                    c = (x + D[nd][0], y + D[nd][1])
                    if self.kind(c) == "." and c[0] <= 3:
                        return turn
                if int(im[3, 5, 0]) == 1:
                    return 4
                return 1
            balls = [c for c, v in self.m.items() if v[0] in (6, 7)]
            ball = (balls[0][0] + 3, balls[0][1] + self.off) if balls else (lock[0] + 1, lock[1])
            act = self.goto_facing(state, ball)
            return 3 if act == "here" else act
        if carry == 5:
            target = lock
            if target is None:
                target = (4, 3)
            act = self.goto_facing(state, target)
            if act == "here":
                return 5 if lock is not None else 1
            return act
        keys = [c for c, v in self.m.items() if v[0] == 5]
        if keys:
            act = self.goto_facing(state, (keys[0][0] + 3, keys[0][1] + self.off))
            return 3 if act == "here" else act
        rooms = tuple(r for r in (1, 3, 5) if self.kind((1, r)) == "U")
        if not rooms:
            return None
        self.memo = {}
        _, plan = self.search(state, frozenset(), rooms)
        if plan is None:
            return None
        pose, slot = plan
        if pose == state:
            return 5 if self.kind(slot) == "C" else 2
        return self.paths(state, frozenset())[1].get(pose)


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
