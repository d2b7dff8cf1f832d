"""Policy for promptpo/NoiseWorld-6-v0, written by inbox:box.

Held-out mean return 800.63 (95 % interval 728.398 to 871.211; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -53068.5 (-63060.2 to -43076.6, 100 episodes), the zero action -100 (-100 to -100, 100 episodes).
Better than the zero action: 800.6 against -100 (difference 900.6 ± 37.7 over 100 shared episodes).
Candidate r4c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Codes 7, 6, 7, 1 in this order, then the goal; from step 68 on straight to the goal.
"""
import math
import numpy as np

MOVES = [(-1, 0), (0, 1), (1, 0), (0, -1)]  # UP, RIGHT, DOWN, LEFT
THROUGH = {0: 0.995, 1: 0.5, 2: 0.4, 7: 0.97, 6: 0.9, 5: 1.0}  # chance that a step from this code does as said
LATE = 68


class Policy:
    def __init__(self, params):
        self.todo = [7, 6, 7, 1]
        self.t = 0
        self.plan = None

    def make(self, n, codes, goal, wanted):
        k = np.array(codes)
        nxt = np.zeros((4, n * n), dtype=int)
        for a, (dr, dc) in enumerate(MOVES):
            for i in range(n * n):
                r, c = i // n + dr, i % n + dc
                ok = 0 <= r < n and 0 <= c < n and codes[r * n + c] != 3
                nxt[a, i] = r * n + c if ok else i
        p = np.array([THROUGH.get(int(x), 0.5) for x in codes])
        other = np.where(k == 2, self.start, np.arange(n * n))
        fixed = np.full(n * n, np.nan)
        fixed[k == 4] = -1000.0
        fixed[goal] = -1000.0
        fixed[wanted] = 0.0
        value = np.zeros(n * n)
        for _ in range(300):
            v = np.where(np.isnan(fixed), value, fixed)
            to = 0.996 * v[nxt] + 0.001 * v[nxt].sum(axis=0)
            q = -1.0 + p * to + (1 - p) * v[other]
            value = q.max(axis=0)
        self.plan = q.argmax(axis=0)

    def act(self, obs):
        n = int(round(math.sqrt(len(obs) - 4)))
        r, c, rg, cg = [int(round(float(v) * (n - 1))) for v in obs[:4]]
        here, goal = r * n + c, rg * n + cg
        codes = [int(round(float(v))) for v in obs[4:4 + n * n]]
        if self.t == 0:
            self.start = here
            self.todo = [k for k in self.todo if k in codes]
        self.t += 1
        before = len(self.todo)
        if self.todo and codes[here] == self.todo[0]:
            self.todo.pop(0)
        if self.t > LATE:
            self.todo = []
        elif self.t > 45 and len(self.todo) > 1:
            self.todo = [k for k in (1,) if k in codes]
        if self.plan is None or len(self.todo) != before:
            wanted = [i for i, k in enumerate(codes) if k == self.todo[0] and i != goal] if self.todo else [goal]
            self.make(n, codes, goal, wanted)
        self.debug = {"next": self.todo[0] if self.todo else 5, "here": codes[here]}
        return int(self.plan[here])


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    policy = Policy({})
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
