"""Policy for promptpo/NoiseWorld-6-v0, written by inbox:box.

Held-out mean return -11.73 (95 % interval -12.09 to -11.41; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -53068.5 (-63060.2 to -43076.6, 100 episodes), the zero action -100 (-100 to -100, 100 episodes).
Better than the zero action: -11.7 against -100 (difference 88.3 ± 0.182 over 100 shared episodes). c0, c5 stand at the end of their ranges: widen it in PARAMS of the exported policy and go on from there (--start).
Candidate r1c2t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Cheapest path over cell-kind costs. The eight costs are tuned; a margin spreads danger to neighbours since steps slip.
"""
import heapq
import math
import numpy as np

PARAMS = {
    "c0": (0.224086, 0.0, 60.0), "c1": (1.93072, 0.0, 60.0), "c2": (35.4492, 0.0, 60.0), "c3": (13.9123, 0.0, 60.0),
    "c4": (7.53119, 0.0, 60.0), "c5": (0.0011597, 0.0, 60.0), "c6": (19.0916, 0.0, 60.0), "c7": (12.4357, 0.0, 60.0),
    "margin": (0.160935, 0.0, 0.5),
    "fail": (0.354336, 0.0, 6.0),
}
MOVES = [(-1, 0), (0, 1), (1, 0), (0, -1)]


class Policy:
    def __init__(self, params):
        self.cost = [params["c%d" % k] for k in range(8)]
        self.margin = params["margin"]
        self.fail = params["fail"]
        self.extra = {}
        self.last = None
        self.field = None

    def plan(self):
        n = self.n
        field = {self.goal: 0.0}
        heap = [(0.0, self.goal)]
        while heap:
            d, p = heapq.heappop(heap)
            if d > field[p]:
                continue
            enter = 1.0 + self.extra.get(p, 0.0)
            if p != self.goal:
                enter += self.base[p]
            for dr, dc in MOVES:
                q = (p[0] + dr, p[1] + dc)
                if 0 <= q[0] < n and 0 <= q[1] < n and d + enter < field.get(q, 1e18):
                    field[q] = d + enter
                    heapq.heappush(heap, (d + enter, q))
        self.field = field

    def setup(self, obs):
        n = self.n = int(round(math.sqrt(len(obs) - 4)))
        self.goal = (int(round(obs[2] * (n - 1))), int(round(obs[3] * (n - 1))))
        code = np.clip(np.rint(obs[4:4 + n * n]).astype(int), 0, 7).reshape(n, n)
        c = np.array(self.cost)[code]
        c[self.goal] = 0.0
        self.base = {}
        for r in range(n):
            for k in range(n):
                near = sum(c[r + a, k + b] for a, b in MOVES if 0 <= r + a < n and 0 <= k + b < n)
                self.base[(r, k)] = float(c[r, k] + self.margin * near)

    def act(self, obs):
        if self.field is None:
            self.setup(obs)
            self.plan()
        n = self.n
        p = (int(round(obs[0] * (n - 1))), int(round(obs[1] * (n - 1))))
        if self.last is not None and self.last[0] == p:
            t = self.last[1]
            self.extra[t] = self.extra.get(t, 0.0) + self.fail
            self.plan()
        best, choice, target = 1e18, 0, p
        for a, (dr, dc) in enumerate(MOVES):
            q = (p[0] + dr, p[1] + dc)
            if not (0 <= q[0] < n and 0 <= q[1] < n):
                continue
            v = self.field[q] + self.extra.get(q, 0.0) + (0.0 if q == self.goal else self.base[q])
            if v < best:
                best, choice, target = v, a, q
        self.last = (p, target)
        self.debug = {"to_go": round(best, 2)}
        return choice


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
    parser.add_argument("--env", default='promptpo/NoiseWorld-6-v0', help="environment id")
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
