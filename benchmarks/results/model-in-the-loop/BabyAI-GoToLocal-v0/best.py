"""Policy for minigrid:BabyAI-GoToLocal-v0, written by inbox:box.

Held-out mean return 0.931094 (95 % interval 0.92125 to 0.940656; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn 0.16 (0.0815 to 0.245, 50 episodes), the zero action 0 (0 to 0, 50 episodes).
Better than random actions: 0.931 against 0.16 (difference 0.771 ± 0.040 over 50 shared episodes).
Candidate r2c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Remembered map, cheapest pose path to face the mission's object, in which one blocking object may be picked up out of the way
(PICKUP then FORWARD); expectimax search over the unseen interior cells before. The episode ends with the object in the cell ahead.
"""
import heapq
import numpy as np

PARAMS = {"leaf": (2.0, 0.0, 8.0), "unknown": (0.4, 0.0, 2.0)}

N = 6  # interior cells each way
DEPTH = 4
F = [(0, 1), (1, 0), (0, -1), (-1, 0)]  # heading 0 = ahead in the first view; +1 = turned right
R = [(1, 0), (0, -1), (-1, 0), (0, 1)]
OBJ = {"key": 5, "ball": 6, "box": 7}
COL = {"red": 0, "green": 1, "blue": 2, "purple": 3, "yellow": 4, "grey": 5}


def inside(c):
    return 0 <= c[0] < N and 0 <= c[1] < N


class Policy:
    def __init__(self, params):
        self.leaf, self.unknown = float(params["leaf"]), float(params["unknown"])
        self.pick = 1.0  # what PICKUP costs
        self.pose, self.cells, self.t = None, {}, 0

    def start(self, im):
        wall = im[:, :, 0] == 2
        f = next((6 - j for j in range(5, -1, -1) if wall[3, j]), 6)
        left = next((3 - i for i in (2, 1, 0) if wall[i, 6]), None)
        right = next((i - 3 for i in (4, 5, 6) if wall[i, 6]), None)
        x = left - 1 if left is not None else (N - right if right is not None else N // 2)
        self.pose = (min(max(x, 0), N - 1), min(max(N - f, 0), N - 1), 0, 0)

    def remember(self, im):
        x, y, h, _ = self.pose
        for i in range(7):
            for j in range(7):
                if im[i, j, 0]:
                    r, f = i - 3, 6 - j
                    c = (x + r * R[h][0] + f * F[h][0], y + r * R[h][1] + f * F[h][1])
                    if inside(c):
                        self.cells[c] = (int(im[i, j, 0]), int(im[i, j, 1])) if (r, f) != (0, 0) else (1, 0)

    def step(self, pose, a):
        """The pose after an action and what it costs; k = 1 when something is carried, then no more can be picked up."""
        x, y, h, k = pose
        if a != 2:
            return (x, y, (h + (1 if a == 1 else 3)) % 4, k), 1.0
        c = (x + F[h][0], y + F[h][1])
        if not inside(c):
            return None, 0.0
        v = self.cells.get(c)
        if v is None:
            return (c[0], c[1], h, k), 1.0 + self.unknown
        if v[0] in (1, 3, 8):
            return (c[0], c[1], h, k), 1.0
        if v[0] in (5, 6, 7) and k == 0 and v != self.want:
            return (c[0], c[1], h, 1), 1.0 + self.pick
        return None, 0.0

    def reach(self, pose):
        """Costs of all poses from this one, and the first action towards each."""
        if pose in self.cache:
            return self.cache[pose]
        dist, first, heap, n = {pose: 0.0}, {pose: None}, [(0.0, 0, pose)], 0
        while heap:
            d, _, s = heapq.heappop(heap)
            if d > dist[s]:
                continue
            for a in (2, 0, 1):
                p, k = self.step(s, a)
                if p is not None and d + k < dist.get(p, 1e9) - 1e-9:
                    dist[p] = d + k
                    first[p] = a if s == pose else first[s]
                    n += 1
                    heapq.heappush(heap, (d + k, n, p))
        self.cache[pose] = (dist, first)
        return dist, first

    def facing(self, pose, c):
        """Cost and first action to face cell c."""
        dist, first = self.reach(pose)
        best, act = 30.0, None
        for h in range(4):
            for k in (0, 1):
                p = (c[0] - F[h][0], c[1] - F[h][1], h, k)
                if dist.get(p, 1e9) < best:
                    best, act = dist[p], first[p]
        return best, act

    def sees(self, pose, c):
        x, y, h = pose[:3]
        dx, dy = c[0] - x, c[1] - y
        return abs(dx * R[h][0] + dy * R[h][1]) <= 3 and 0 <= dx * F[h][0] + dy * F[h][1] <= 6

    def value(self, pose, cand, depth):
        if not cand:
            return 0.0, None
        if depth == 0:
            return sum(self.facing(pose, c)[0] for c in cand) + self.leaf * len(cand), None
        best, act = 1e9, None
        for a in (0, 1, 2):
            nxt, k = self.step(pose, a)
            if nxt is None:
                continue
            new = [c for c in cand if self.sees(nxt, c)]
            v = k * len(cand) + sum(self.facing(nxt, c)[0] for c in new)
            v += self.value(nxt, cand.difference(new) if new else cand, depth - 1)[0]
            if v < best - 1e-9:
                best, act = v, a
        return best, act

    def act(self, obs):
        im = obs["image"]
        self.t += 1
        self.cache = {}
        if self.pose is None:
            self.start(im)
        self.pose = self.pose[:3] + (1 if im[3, 6, 0] in (5, 6, 7) else 0,)
        self.remember(im)
        words = obs["mission"].lower().replace(",", " ").split()
        self.want = (next((OBJ[w] for w in words if w in OBJ), -1), next((COL[w] for w in words if w in COL), -1))
        fit = [c for c, v in self.cells.items() if v == self.want]
        a = None
        if fit:
            a = min((self.facing(self.pose, c) for c in fit), key=lambda z: z[0])[1]
        else:
            cand = frozenset((x, y) for x in range(N) for y in range(N) if (x, y) not in self.cells)
            a = self.value(self.pose, cand, DEPTH)[1]
        if a is None:  # no way known, or nothing left to see
            a = 2 if im[3, 5, 0] == 1 and self.t % 3 else 1
        self.debug = {"x": self.pose[0], "y": self.pose[1], "h": self.pose[2], "carry": self.pose[3], "fit": len(fit)}
        if a == 2 and im[3, 5, 0] in (5, 6, 7):
            return 3  # out of the way; the step follows
        if a != 2 or im[3, 5, 0] in (1, 3, 8):
            self.pose = self.step(self.pose, a)[0] or self.pose
        return int(a)


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
    parser.add_argument("--env", default='minigrid:BabyAI-GoToLocal-v0', help="environment id")
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
