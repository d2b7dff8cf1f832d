"""Policy for minigrid:MiniGrid-DoorKey-6x6-v0 in minigrid.wrappers:RGBImgObsWrapper in minigrid.wrappers:ImgObsWrapper, written by inbox:box.

Held-out mean return 0.969625 (95 % interval 0.967625 to 0.971625; 20 episodes, seeds 20000000 to 20000019).
On the same seeds random actions earn 0.104 (0.0176 to 0.221, 10 episodes), the zero action 0 (0 to 0, 10 episodes).
Better than random actions: 0.97 against 0.104 (difference 0.865 ± 0.058 over 10 shared episodes).
Candidate r1c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Target = key, else locked door, else goal; walk the shortest way of cells to it and use it when it is ahead.
"""
from collections import deque

import numpy as np

MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]  # heading 0 right, 1 down, 2 left, 3 up


class Policy:
    def __init__(self, params):
        self.door = None

    def perceive(self, obs):
        o = obs.astype(int)
        r, g, b = o[..., 0], o[..., 1], o[..., 2]
        n = len(o) // 8

        def count(m):
            return m.reshape(n, 8, n, 8).sum((1, 3))

        red = (r - g > 90) & (r - b > 90) & (r > 150)
        cy = count((r - b > 50) & (abs(r - g) < 25) & (r > 60))
        cr, cg = count(red), count((g - r > 90) & (g - b > 90))
        agent = divmod(int(cr.argmax()), n)
        ys, xs = np.nonzero(red[8 * agent[0]:8 * agent[0] + 8, 8 * agent[1]:8 * agent[1] + 8])
        dy, dx = ys.mean() - 3.5, xs.mean() - 3.5  # the triangle's base lies behind
        heading = (0 if dx < 0 else 2) if abs(dx) > abs(dy) else (1 if dy < 0 else 3)
        locked = bool(cy.max() >= 40)  # a locked door fills its cell with yellow
        if locked:
            self.door = divmod(int(cy.argmax()), n)
        keys = [(int(i), int(j)) for i, j in np.argwhere((cy >= 6) & (cy < 40)) if (int(i), int(j)) != self.door]
        mid = o[4::8, 4::8]
        wall = (mid.max(2) - mid.min(2) < 12) & (mid.min(2) >= 90)
        return {"agent": agent, "heading": heading, "key": keys[0] if keys else None, "door": self.door,
                "locked": locked, "goal": divmod(int(cg.argmax()), n), "map": wall}

    def act(self, obs):
        s = self.perceive(obs)
        blocked = {(int(i), int(j)) for i, j in np.argwhere(s["map"])} - {s["agent"], s["door"]}
        if s["key"]:
            target, use = s["key"], 3
        elif s["locked"]:
            target, use = s["door"], 5
        else:
            target, use = s["goal"], 2
        if s["locked"] and target != s["door"]:
            blocked.add(s["door"])
        # distances from the target outwards over (cell, heading) would count turns, too: search forward with them
        y, x = s["agent"]
        start = (y, x, s["heading"])
        first, queue = {start: None}, deque([start])
        while queue:
            y, x, h = state = queue.popleft()
            ahead = (y + MOVES[h][0], x + MOVES[h][1])
            if ahead == target:
                return use if first[state] is None else first[state]
            steps = [(0, (y, x, (h + 3) % 4)), (1, (y, x, (h + 1) % 4))]
            if ahead not in blocked and 0 <= ahead[0] < len(s["map"]) and 0 <= ahead[1] < len(s["map"]):
                steps.append((2, (ahead[0], ahead[1], h)))
            for action, new in steps:
                if new not in first:
                    first[new] = action if first[state] is None else first[state]
                    queue.append(new)
        return 1


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
