"""Policy for MiniGrid-FourRooms-v0, written by program search (no language model).

Held-out mean return 0 (95 % interval 0 to 0; 30 episodes, seeds 20000000 to 20000029).
Candidate r1c2 of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Every output is a weighted sum of the observation's numbers; a comparison or a limit makes it an
action.

Written by program search, without a language model.
Structure: linear with ordered
"""
import math

import numpy as np

PARAMS = {
    "out0": (0.0, -1.0, 1.0),
    "out0_x_direction0": (0.0, -1.0, 1.0),
    "out0_x_direction1": (0.0, -1.0, 1.0),
    "out0_x_direction2": (0.0, -1.0, 1.0),
    "out0_x_direction3": (0.0, -1.0, 1.0),
    "out0_x_image0": (0.0, -1.0, 1.0),
    "out0_x_image1": (0.0, -1.0, 1.0),
    "out0_x_image2": (0.0, -1.0, 1.0),
    "out0_x_image3": (0.0, -1.0, 1.0),
    "out0_x_image4": (0.0, -1.0, 1.0),
    "out0_x_image5": (0.0, -1.0, 1.0),
    "out0_x_image6": (0.0, -1.0, 1.0),
    "out0_x_image7": (0.0, -1.0, 1.0),
    "out0_x_image8": (0.0, -1.0, 1.0),
    "out0_x_image9": (0.0, -1.0, 1.0),
    "out0_x_image10": (0.0, -1.0, 1.0),
    "out0_x_image11": (0.0, -1.0, 1.0),
    "out0_x_image12": (0.0, -1.0, 1.0),
    "out0_x_image13": (0.0, -1.0, 1.0),
    "out0_x_image14": (0.0, -1.0, 1.0),
    "out0_x_image15": (0.0, -1.0, 1.0),
}


def pool(image):
    """Means of 4 by 4 blocks of an image."""
    rows = np.array_split(np.asarray(image, dtype=float), 4)
    return [float(np.mean(block)) for row in rows for block in np.array_split(row, 4, axis=1)]


def clip(value):
    """Limit a score to -1..1."""
    return max(-1.0, min(1.0, value))


def level(value, n):
    """A score from -1 to 1 as one of n ordered levels."""
    return min(n - 1, int(0.5 * (clip(value) + 1.0) * n))


def features(obs):
    """The observation as a list of numbers of about one."""
    numbers = []
    numbers += [float(int(obs['direction']) == i) for i in range(4)]
    numbers += [value / 255 for value in pool(obs['image'])]
    return numbers


class Policy:
    def __init__(self, params):
        self.params = params

    def act(self, obs):
        p = self.params
        x = features(obs)
        u0 = p["out0"] + p["out0_x_direction0"] * x[0] + p["out0_x_direction1"] * x[1]
        u0 += p["out0_x_direction2"] * x[2] + p["out0_x_direction3"] * x[3]
        u0 += p["out0_x_image0"] * x[4] + p["out0_x_image1"] * x[5] + p["out0_x_image2"] * x[6]
        u0 += p["out0_x_image3"] * x[7] + p["out0_x_image4"] * x[8] + p["out0_x_image5"] * x[9]
        u0 += p["out0_x_image6"] * x[10] + p["out0_x_image7"] * x[11]
        u0 += p["out0_x_image8"] * x[12] + p["out0_x_image9"] * x[13]
        u0 += p["out0_x_image10"] * x[14] + p["out0_x_image11"] * x[15]
        u0 += p["out0_x_image12"] * x[16] + p["out0_x_image13"] * x[17]
        u0 += p["out0_x_image14"] * x[18] + p["out0_x_image15"] * x[19]
        u = [u0]
        return level(u[0], 7)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    return Policy({name: value[0] for name, value in PARAMS.items()})


def predict(observation, state=None, episode_start=None, deterministic=True):
    """Actions for one observation, or for a batch as vectorised environments give it.

    Args:
        observation: One observation, or a batch: arrays (or a dict of arrays) with a leading axis.
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
        return _within_bounds(state[0].act(observation)), state
    starts = np.atleast_1d(episode_start)
    state = list(state) if state is not None else [None] * len(starts)
    actions = []
    for i, start in enumerate(starts):
        if start or state[i] is None:
            state[i] = new_policy()
        one = {key: value[i] for key, value in observation.items()} if isinstance(observation, dict) else observation[i]
        if np.ndim(one) == 0 and not isinstance(one, (str, bytes)):
            one = int(one)
        actions.append(_within_bounds(state[i].act(one)))
    return np.asarray(actions), tuple(state)


def _within_bounds(action):
    return action


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='MiniGrid-FourRooms-v0', help="environment id")
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
