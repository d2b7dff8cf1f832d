"""Policy for FetchPush-v4, written by inbox:box.

Held-out mean return -10.38 (95 % interval -11.6 to -9.06; 50 episodes, seeds 20000000 to 20000049).
Success in 100% of them.
On the same seeds random actions earn -46.4 (-49.3 to -42.4, 50 episodes), the zero action -46 (-49 to -42, 50 episodes).
Solved: success in 100% of the test episodes.
Candidate r1c2t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Four rules in the frame of the line object->goal: out to the side, back, onto the line, push. 0.033 m per step per unit action.
"""
import numpy as np

PARAMS = {
    "wide": (0.0611112, 0.05, 0.1),     # m beside the object while passing it
    "back": (0.0572771, 0.04, 0.1),     # m behind the object's centre where the line may be entered
    "gain": (21.1011, 8.0, 35.0),     # action per m
    "tol": (0.0140185, 0.005, 0.03),   # m
    "push": (0.977644, 0.3, 1.0),       # action
    "side": (9.37211, 2.0, 40.0),     # action per m
    "stop": (0.0293832, 0.005, 0.048), # m
}


class Policy:
    def __init__(self, params):
        self.p = params
        self.push = False

    def act(self, obs):
        p = self.p
        o = np.asarray(obs["observation"], float)
        g, b = o[0:3], o[3:6]
        to = (np.asarray(obs["desired_goal"], float) - b)[:2]
        d = float(np.linalg.norm(to))
        u = to / (d + 1e-9)
        s = np.array([-u[1], u[0]])
        r = (g - b)[:2]
        behind, lat = -float(r @ u), float(r @ s)
        a = np.zeros(4, dtype=np.float32)
        a[2] = np.clip(p["gain"] * (b[2] - g[2]), -1, 1)
        if d < p["stop"]:
            return a
        sign = 1.0 if lat >= 0 else -1.0
        self.push = behind > 0.02 and abs(lat) < (0.03 if self.push else p["tol"])
        if self.push:
            along = min(p["push"], max(0.2, p["gain"] * (d - 0.02) + p["gain"] * max(0.0, behind - 0.045)))
            xy = along * u - p["side"] * lat * s
        else:
            k = p["gain"]
            out = sign * p["wide"] - lat
            if behind < p["back"] - 0.015 and abs(lat) < p["wide"] - 0.012:
                # in front of or beside the object: out, and back only as far as it stays clear of it
                free = max(0.0, -behind - p["wide"]) if behind < 0 else 0.0
                xy = k * out * s - k * min(free, p["back"] - behind) * u
            elif behind < p["back"] - 0.015:
                xy = -k * (p["back"] - behind + 0.01) * u + k * out * s
            else:
                xy = -k * lat * s - k * (p["back"] - behind) * u
            m = float(np.max(np.abs(xy)))
            if m > 1:
                xy = xy / m
        a[:2] = np.clip(xy, -1, 1)
        self.debug = {"push": int(self.push), "behind": behind, "lat": lat, "d": d}
        return a


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
    """What the policy returned, as the environment wants it, within its bounds."""
    import numpy as np

    action = np.asarray(action, dtype=np.float32).reshape((4,))
    return np.clip(action, np.float32(-1.0), np.float32(1.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='FetchPush-v4', help="environment id")
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
