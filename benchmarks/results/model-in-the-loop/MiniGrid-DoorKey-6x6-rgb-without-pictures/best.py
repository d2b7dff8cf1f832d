"""Policy for minigrid:MiniGrid-DoorKey-6x6-v0 in minigrid.wrappers:RGBImgObsWrapper in minigrid.wrappers:ImgObsWrapper, written by inbox:box.

Held-out mean return 0.969625 (95 % interval 0.967625 to 0.971625; 20 episodes, seeds 20000000 to 20000019).
On the same seeds random actions earn 0.052 (0 to 0.116, 20 episodes), the zero action 0 (0 to 0, 20 episodes).
Better than random actions: 0.97 against 0.052 (difference 0.918 ± 0.031 over 20 shared episodes).
Candidate r1c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Key, door, goal in phases, shortest way in each; cells of 8x8 pixels by colour. The red pixels sit off the middle of their cell against the heading.
"""
import numpy as np
from collections import deque

STEP = [(0, 1), (1, 0), (0, -1), (-1, 0)]  # right, down, left, up (row, column)


class Policy:
    def __init__(self, params):
        self.t = 0

    def look(self, im):
        x = im.astype(int)
        r, g, b = x[..., 0], x[..., 1], x[..., 2]
        kinds = {}
        red = (r > 150) & (r - g > 80) & (r - b > 80)
        for i in range(6):
            for j in range(6):
                s = np.s_[8 * i:8 * i + 8, 8 * j:8 * j + 8]
                yellow = (r[s] > 90) & (abs(r[s] - g[s]) < 15) & (r[s] - b[s] > 40)
                if red[s].sum() >= 5:
                    kinds[i, j] = "agent"
                    off = np.argwhere(red[s]).mean(axis=0) - 3.5
                    k = int(abs(off[1]) > abs(off[0]))
                    self.face = [[3, 1], [2, 0]][k][int(off[k] < 0)]
                    self.at = (i, j)
                elif ((g[s] - r[s] > 80) & (g[s] - b[s] > 80)).sum() > 30:
                    kinds[i, j] = "goal"
                elif yellow.sum() >= 25:
                    kinds[i, j] = "door"
                elif yellow[:, 2:6].sum() >= 4:
                    kinds[i, j] = "key"
                elif x[8 * i + 3:8 * i + 5, 8 * j + 3:8 * j + 5].mean() > 90:
                    kinds[i, j] = "wall"
                else:
                    kinds[i, j] = "free"
        return kinds

    def act(self, obs):
        self.t += 1
        kinds = self.look(obs)
        seen = set(kinds.values())
        phase = "key" if "key" in seen else "door" if "door" in seen else "goal"
        self.debug = {"phase": phase, "row": self.at[0], "col": self.at[1], "face": self.face}
        start = (self.at, self.face)
        first, queue = {start: None}, deque([start])
        while queue:
            p, h = queue.popleft()
            n = (p[0] + STEP[h][0], p[1] + STEP[h][1])
            if kinds.get(n) == phase:
                return first[p, h] if first[p, h] is not None else {"key": 3, "door": 5, "goal": 2}[phase]
            for a, s in ((2, (n, h)), (0, (p, (h + 3) % 4)), (1, (p, (h + 1) % 4))):
                if s not in first and (a != 2 or kinds.get(n) in ("free", "goal")):
                    first[s] = a if first[p, h] is None else first[p, h]
                    queue.append(s)
        return (1, 2, 0, 2, 5)[self.t % 5]


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


def make(name, kwargs, wrappers):
    """The environment: an id of Gymnasium, or a class or function in a module or file; in its wrappers."""
    import json

    import gymnasium

    def load(name):
        import importlib
        import importlib.util
        import os
        import sys

        module, _, attribute = name.rpartition(":")
        sys.path.append(os.getcwd())
        if module.endswith(".py"):
            sys.path.append(os.path.dirname(os.path.abspath(module)))
            spec = importlib.util.spec_from_file_location(os.path.basename(module)[:-3], module)
            loaded = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(loaded)
        else:
            loaded = importlib.import_module(module) if module else gymnasium.wrappers
        for part in attribute.split("."):
            loaded = getattr(loaded, part, None)
        return loaded

    made_by = load(name) if ":" in name else None
    limit = None
    if made_by is None:
        env = gymnasium.make(name.rpartition(":")[2], max_episode_steps=limit, **kwargs)
    else:
        env = made_by(**kwargs)
        env = gymnasium.wrappers.TimeLimit(env, limit) if limit else env
    for wrapper in wrappers:
        name, brace, rest = wrapper.partition("{")
        env = load(name)(env, **json.loads(brace + rest or "{}"))
    return env


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='minigrid:MiniGrid-DoorKey-6x6-v0', help="environment id")
    parser.add_argument("--env-kwargs", default='{}', type=json.loads, help="JSON")
    parser.add_argument("--wrapper", nargs="*", default=['minigrid.wrappers:RGBImgObsWrapper', 'minigrid.wrappers:ImgObsWrapper'], help="around the environment")
    parser.add_argument("--variants", default='[{"env_kwargs": {}, "env_id": ""}]', type=json.loads, help="JSON; take turns")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first episode; the next ones follow")
    parser.add_argument("--render", action="store_true", help="show a window")
    args = parser.parse_args()
    kwargs = {**args.env_kwargs, "render_mode": "human"} if args.render else args.env_kwargs
    envs = [
        make(variant.get("env_id") or args.env, {**kwargs, **variant.get("env_kwargs", {})}, args.wrapper)
        for variant in args.variants
    ]
    returns = []
    for episode in range(args.episodes):
        number = (args.seed + episode) % len(envs)  # variants take turns by their seeds, as they did in the search
        env = envs[number]
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
    for env in envs:
        env.close()


if __name__ == "__main__":
    main()
