"""Policy for Meta-World/stick-pull-v3, written by inbox:box.

Held-out mean return 4471.32 (95 % interval 4460.12 to 4480.85; 50 episodes, seeds 20000000 to 20000049).
Success in 100% of them.
On the same seeds random actions earn 11.8 (10.4 to 13.1, 50 episodes), the zero action 6.09 (3.51 to 8.92, 50 episodes).
Solved: success in 100% of the test episodes.
Candidate r4c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

As before from the grip on; the reach keeps the gripper's own target (0.01 m per unit of action), drives it at full speed to the grip point, and closes while the hand glides in.
"""
import numpy as np

PARAMS = {
    "grip": (np.array([-0.008, -0.0013, 0.043]), -0.02, 0.05),  # hand - stick
    "kp": (17.0, 8.0, 40.0), "kd": (22.0, 0.0, 80.0), "carry": (21.0, 6.0, 30.0), "top": (0.93, 0.4, 1.0),
    "close": (8.0, 3.0, 15.0),
    "start": (0.016, 0.006, 0.04),  # distance at which the fingers start to close
    "above": (0.04, 0.0, 0.08),     # kept above the grip while the target is beside it
    "standoff": (-0.13, -0.20, -0.08),
    "tol": (0.013, 0.005, 0.03),
    "deep": (-0.034, -0.06, -0.02),
    "near": (0.1178, 0.105, 0.119),
}

class Policy:
    def __init__(self, params):
        self.p, self.closed, self.hooked, self.target = params, 0, False, None

    def act(self, obs):
        p, hand, stick, handle, goal = self.p, obs[:3], obs[4:7], obs[11:14], obs[36:39]
        rel, gap = stick - handle, np.linalg.norm(goal - handle)
        e, k, top = stick + p["grip"] - hand, p["kp"], 1.0
        if self.closed and np.linalg.norm(hand - stick) > 0.09:
            self.closed, self.hooked = 0, False
        if self.closed or np.abs(e).max() < p["start"]:
            self.closed += 1
        if 0 < self.closed <= p["close"]:
            e = np.zeros(3)
        elif self.closed:
            k, top, e = p["carry"], p["top"], -rel
            self.hooked = abs(rel[1]) < 0.05 and rel[0] > (-0.10 if self.hooked else p["deep"])
            if self.hooked:
                e[:2] = goal[:2] - handle[:2]
                e[0] = max(e[0], -0.02) + 2.0 * max(p["deep"] - rel[0], 0.0)
            elif np.abs(rel[1:]).max() < p["tol"] or rel[0] > -0.07:
                e[0] = 0.1
            else:
                e[0] = p["standoff"] - rel[0]
                e[:2] *= np.clip((stick[2] - 0.025) / 0.02, 0.0, 1.0)
        if not self.closed or self.closed <= p["close"]:
            self.target = hand.copy() if self.target is None else self.target
            want = stick + p["grip"] if not self.closed else self.grip_at
            self.grip_at = np.array(want)
            if np.abs(self.target[:2] - want[:2]).max() > 0.02:
                want = want + [0.0, 0.0, p["above"]]
            move = np.clip((want - self.target) / 0.01, -1.0, 1.0)
            self.target = self.target + 0.01 * move
            return np.append(move, 1.0 if self.closed else -1.0).astype(np.float32)
        self.target = None
        a = np.append(np.clip(k * e - p["kd"] * (hand - obs[18:21]), -top, top), 1.0 if self.closed else -1.0)
        if self.hooked and gap < p["near"]:
            a[:2] = 0.0
        self.debug = {"closed": self.closed, "hooked": int(self.hooked), "rel_x": round(float(rel[0]), 3), "gap": round(float(gap), 3)}
        return a.astype(np.float32)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    import numpy as np

    policy = Policy({name: np.array(value[0], dtype=float) if np.ndim(value[0]) else value[0] for name, value in PARAMS.items()})
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
    parser.add_argument("--env", default='metaworld:Meta-World/MT1', help="environment id")
    parser.add_argument("--env-kwargs", default='{"env_name": "stick-pull-v3"}', type=json.loads, help="JSON")
    parser.add_argument("--wrapper", nargs="*", default=[], help="around the environment")
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
