"""Policy for Pusher-v5, written by program search (no language model).

Held-out mean return -70.9078 (95 % interval -73.2127 to -68.5338; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c1t of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

One clock drives all joints: each is pulled towards an angle that swings with an amplitude and
phase of its own, corrected by the body's posture.

Written by program search, without a language model.
Structure: tracker
"""
import math

import numpy as np

PARAMS = {
    "frequency": (0.0336456, 0.01, 0.45),
    "offset0": (-0.0340093, -1.0, 1.0),
    "sine0": (0.458551, -1.5, 1.5),
    "cosine0": (1.11158, -1.5, 1.5),
    "correct0_x0": (0.0261978, -1.0, 1.0),
    "correct0_x1": (0.0667635, -1.0, 1.0),
    "correct0_x2": (-0.147014, -1.0, 1.0),
    "correct0_x3": (0.320602, -1.0, 1.0),
    "correct0_x11": (-0.0481004, -0.2, 0.2),
    "correct0_x12": (-0.12051, -0.2, 0.2),
    "correct0_x13": (-0.0147135, -0.2, 0.2),
    "correct0_x14": (-0.102128, -0.2, 0.2),
    "correct0_x15": (0.079718, -0.2, 0.2),
    "pull0": (0.34673, 0.3, 10.0),
    "damping0": (0.225558, 0.0, 0.5),
    "offset1": (-0.22406, -1.0, 1.0),
    "sine1": (0.300856, -1.5, 1.5),
    "cosine1": (0.40954, -1.5, 1.5),
    "correct1_x0": (0.150131, -1.0, 1.0),
    "correct1_x1": (-0.139853, -1.0, 1.0),
    "correct1_x2": (0.613066, -1.0, 1.0),
    "correct1_x3": (-0.968736, -1.0, 1.0),
    "correct1_x11": (0.0745361, -0.2, 0.2),
    "correct1_x12": (0.039192, -0.2, 0.2),
    "correct1_x13": (0.0741598, -0.2, 0.2),
    "correct1_x14": (0.198329, -0.2, 0.2),
    "correct1_x15": (-0.0416346, -0.2, 0.2),
    "pull1": (0.327266, 0.3, 10.0),
    "damping1": (0.150088, 0.0, 0.5),
    "offset2": (-0.408325, -1.0, 1.0),
    "sine2": (-0.318494, -1.5, 1.5),
    "cosine2": (0.694904, -1.5, 1.5),
    "correct2_x0": (0.466277, -1.0, 1.0),
    "correct2_x1": (-0.641367, -1.0, 1.0),
    "correct2_x2": (-0.646809, -1.0, 1.0),
    "correct2_x3": (0.0872101, -1.0, 1.0),
    "correct2_x11": (-0.0477073, -0.2, 0.2),
    "correct2_x12": (0.105558, -0.2, 0.2),
    "correct2_x13": (-0.0276742, -0.2, 0.2),
    "correct2_x14": (0.0635451, -0.2, 0.2),
    "correct2_x15": (-0.0645253, -0.2, 0.2),
    "pull2": (0.300557, 0.3, 10.0),
    "damping2": (0.0622653, 0.0, 0.5),
    "offset3": (0.359715, -1.0, 1.0),
    "sine3": (0.288365, -1.5, 1.5),
    "cosine3": (-0.0675238, -1.5, 1.5),
    "correct3_x0": (-0.0671009, -1.0, 1.0),
    "correct3_x1": (0.077717, -1.0, 1.0),
    "correct3_x2": (0.291139, -1.0, 1.0),
    "correct3_x3": (0.152361, -1.0, 1.0),
    "correct3_x11": (0.0649278, -0.2, 0.2),
    "correct3_x12": (-0.00322017, -0.2, 0.2),
    "correct3_x13": (0.0351367, -0.2, 0.2),
    "correct3_x14": (0.0520707, -0.2, 0.2),
    "correct3_x15": (0.0865131, -0.2, 0.2),
    "pull3": (0.312312, 0.3, 10.0),
    "damping3": (0.13161, 0.0, 0.5),
    "offset4": (0.183426, -1.0, 1.0),
    "sine4": (-0.966572, -1.5, 1.5),
    "cosine4": (0.197881, -1.5, 1.5),
    "correct4_x0": (0.0498411, -1.0, 1.0),
    "correct4_x1": (0.279656, -1.0, 1.0),
    "correct4_x2": (0.0566309, -1.0, 1.0),
    "correct4_x3": (-0.0533303, -1.0, 1.0),
    "correct4_x11": (0.00429856, -0.2, 0.2),
    "correct4_x12": (0.00974074, -0.2, 0.2),
    "correct4_x13": (-0.104226, -0.2, 0.2),
    "correct4_x14": (-0.00291567, -0.2, 0.2),
    "correct4_x15": (-0.0259071, -0.2, 0.2),
    "pull4": (0.314995, 0.3, 10.0),
    "damping4": (0.171546, 0.0, 0.5),
    "offset5": (0.153755, -1.0, 1.0),
    "sine5": (0.387943, -1.5, 1.5),
    "cosine5": (-0.153698, -1.5, 1.5),
    "correct5_x0": (0.0632903, -1.0, 1.0),
    "correct5_x1": (0.0594353, -1.0, 1.0),
    "correct5_x2": (-0.00960067, -1.0, 1.0),
    "correct5_x3": (-0.492414, -1.0, 1.0),
    "correct5_x11": (0.163343, -0.2, 0.2),
    "correct5_x12": (-0.0656532, -0.2, 0.2),
    "correct5_x13": (0.0964309, -0.2, 0.2),
    "correct5_x14": (-0.0926162, -0.2, 0.2),
    "correct5_x15": (0.0109724, -0.2, 0.2),
    "pull5": (0.3004, 0.3, 10.0),
    "damping5": (0.241676, 0.0, 0.5),
    "offset6": (-0.582813, -1.0, 1.0),
    "sine6": (0.282177, -1.5, 1.5),
    "cosine6": (-0.295884, -1.5, 1.5),
    "correct6_x0": (-0.632326, -1.0, 1.0),
    "correct6_x1": (0.0552491, -1.0, 1.0),
    "correct6_x2": (-0.41319, -1.0, 1.0),
    "correct6_x3": (-0.198571, -1.0, 1.0),
    "correct6_x11": (0.10263, -0.2, 0.2),
    "correct6_x12": (-0.098923, -0.2, 0.2),
    "correct6_x13": (-0.186079, -0.2, 0.2),
    "correct6_x14": (0.0602748, -0.2, 0.2),
    "correct6_x15": (0.0140382, -0.2, 0.2),
    "pull6": (0.316213, 0.3, 10.0),
    "damping6": (0.0241267, 0.0, 0.5),
}


def clip(value):
    """Limit a score to -1..1."""
    return max(-1.0, min(1.0, value))


def features(obs):
    """The observation as a list of numbers of about one."""
    return np.ravel(obs).tolist()


class Policy:
    def __init__(self, params):
        self.params = params
        self.phase = 0.0

    def act(self, obs):
        p = self.params
        x = features(obs)
        self.phase += 2.0 * math.pi * p["frequency"]
        s, c = math.sin(self.phase), math.cos(self.phase)
        goal = p["offset0"] + p["sine0"] * s + p["cosine0"] * c + p["correct0_x0"] * x[0]
        goal += p["correct0_x1"] * x[1] + p["correct0_x2"] * x[2] + p["correct0_x3"] * x[3]
        goal += p["correct0_x11"] * x[11] + p["correct0_x12"] * x[12]
        goal += p["correct0_x13"] * x[13] + p["correct0_x14"] * x[14]
        goal += p["correct0_x15"] * x[15]
        u0 = p["pull0"] * (goal - x[4]) - p["damping0"] * x[16]
        goal = p["offset1"] + p["sine1"] * s + p["cosine1"] * c + p["correct1_x0"] * x[0]
        goal += p["correct1_x1"] * x[1] + p["correct1_x2"] * x[2] + p["correct1_x3"] * x[3]
        goal += p["correct1_x11"] * x[11] + p["correct1_x12"] * x[12]
        goal += p["correct1_x13"] * x[13] + p["correct1_x14"] * x[14]
        goal += p["correct1_x15"] * x[15]
        u1 = p["pull1"] * (goal - x[5]) - p["damping1"] * x[17]
        goal = p["offset2"] + p["sine2"] * s + p["cosine2"] * c + p["correct2_x0"] * x[0]
        goal += p["correct2_x1"] * x[1] + p["correct2_x2"] * x[2] + p["correct2_x3"] * x[3]
        goal += p["correct2_x11"] * x[11] + p["correct2_x12"] * x[12]
        goal += p["correct2_x13"] * x[13] + p["correct2_x14"] * x[14]
        goal += p["correct2_x15"] * x[15]
        u2 = p["pull2"] * (goal - x[6]) - p["damping2"] * x[18]
        goal = p["offset3"] + p["sine3"] * s + p["cosine3"] * c + p["correct3_x0"] * x[0]
        goal += p["correct3_x1"] * x[1] + p["correct3_x2"] * x[2] + p["correct3_x3"] * x[3]
        goal += p["correct3_x11"] * x[11] + p["correct3_x12"] * x[12]
        goal += p["correct3_x13"] * x[13] + p["correct3_x14"] * x[14]
        goal += p["correct3_x15"] * x[15]
        u3 = p["pull3"] * (goal - x[7]) - p["damping3"] * x[19]
        goal = p["offset4"] + p["sine4"] * s + p["cosine4"] * c + p["correct4_x0"] * x[0]
        goal += p["correct4_x1"] * x[1] + p["correct4_x2"] * x[2] + p["correct4_x3"] * x[3]
        goal += p["correct4_x11"] * x[11] + p["correct4_x12"] * x[12]
        goal += p["correct4_x13"] * x[13] + p["correct4_x14"] * x[14]
        goal += p["correct4_x15"] * x[15]
        u4 = p["pull4"] * (goal - x[8]) - p["damping4"] * x[20]
        goal = p["offset5"] + p["sine5"] * s + p["cosine5"] * c + p["correct5_x0"] * x[0]
        goal += p["correct5_x1"] * x[1] + p["correct5_x2"] * x[2] + p["correct5_x3"] * x[3]
        goal += p["correct5_x11"] * x[11] + p["correct5_x12"] * x[12]
        goal += p["correct5_x13"] * x[13] + p["correct5_x14"] * x[14]
        goal += p["correct5_x15"] * x[15]
        u5 = p["pull5"] * (goal - x[9]) - p["damping5"] * x[21]
        goal = p["offset6"] + p["sine6"] * s + p["cosine6"] * c + p["correct6_x0"] * x[0]
        goal += p["correct6_x1"] * x[1] + p["correct6_x2"] * x[2] + p["correct6_x3"] * x[3]
        goal += p["correct6_x11"] * x[11] + p["correct6_x12"] * x[12]
        goal += p["correct6_x13"] * x[13] + p["correct6_x14"] * x[14]
        goal += p["correct6_x15"] * x[15]
        u6 = p["pull6"] * (goal - x[10]) - p["damping6"] * x[22]
        u = [u0, u1, u2, u3, u4, u5, u6]
        return np.array([2 * clip(u[0]), 2 * clip(u[1]), 2 * clip(u[2]), 2 * clip(u[3]), 2 * clip(u[4]), 2 * clip(u[5]), 2 * clip(u[6])], dtype=np.float32)


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
    import numpy as np

    return np.clip(np.asarray(action, dtype=np.float32), np.float32(-2.0), np.float32(2.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='Pusher-v5', help="environment id")
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
