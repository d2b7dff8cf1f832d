"""Policy for FetchPush-v4, written by inbox:box.

Held-out mean return -9.82 (95 % interval -11.04 to -8.56; 50 episodes, seeds 20000000 to 20000049).
Success in 100% of them.
On the same seeds random actions earn -46.4 (-49.3 to -42.4, 50 episodes), the zero action -46 (-49 to -42, 50 episodes).
Solved: success in 100% of the test episodes.
Candidate r3c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Stay low, bend round the object to the point behind it, push with the whole box, speed limited by the square root of the way left.
"""
import numpy as np

PARAMS = {
    "k": (28.0, 12.0, 45.0),      # action per m
    "R": (0.068, 0.05, 0.1),      # m kept from the object's centre
    "back": (0.055, 0.035, 0.1),  # m behind the object's centre
    "tol": (0.022, 0.01, 0.04),   # m lateral error allowed while pushing
    "side": (35.0, 5.0, 90.0),    # action per m of lateral error
    "brake": (4.5, 1.0, 12.0),    # permitted action per sqrt(m left)
    "end": (0.015, -0.01, 0.045), # m from the centre at which the permitted speed is 0
}


class Policy:
    def __init__(self, params):
        self.p = params

    def act(self, obs):
        p = self.p
        o = np.asarray(obs["observation"], float)
        g, b = o[0:3], o[3:6]
        to = (np.asarray(obs["desired_goal"], float) - b)[:2]
        d = float(np.linalg.norm(to)) + 1e-9
        u = to / d
        s = np.array([-u[1], u[0]])
        r = (g - b)[:2]
        behind, lat = -float(r @ u), float(r @ s)
        xy = np.zeros(2)
        if d > 0.045 or (0.0 < behind < 0.06 and abs(lat) < p["tol"] and d > p["end"]):
            if abs(lat) < p["tol"] and 0.02 < behind < p["back"] + 0.06:
                allowed = p["brake"] * np.sqrt(max(d - p["end"] + max(0.0, behind - 0.045), 0.0))
                xy = min(1.0 / np.max(np.abs(u)), allowed) * u - p["side"] * lat * s
            else:
                w = -p["back"] * u - r
                f = np.clip(-(r @ w) / (w @ w + 1e-9), 0.0, 1.0)
                c = r + f * w + 1e-6 * s
                near = np.linalg.norm(c)
                if f > 0.03 and near < 0.95 * p["R"]:
                    w = 1.1 * p["R"] * c / near - r
                    w *= 0.08 / np.linalg.norm(w)
                xy = p["k"] * w
        self.debug = {"behind": behind, "lat": lat, "d": d}
        xy = xy / max(1.0, float(np.max(np.abs(xy))))
        return np.array([xy[0], xy[1], np.clip(p["k"] * (b[2] - g[2]), -1, 1), 0.0], dtype=np.float32)


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
