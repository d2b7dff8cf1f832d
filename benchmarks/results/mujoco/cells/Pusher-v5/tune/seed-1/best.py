"""Policy for Pusher-v5, written by program search (no language model).

Held-out mean return -58.5085 (95 % interval -60.7015 to -56.1751; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c1t of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

One clock drives all joints: each is pulled towards an angle that swings with an amplitude and
phase of its own, corrected by the body's posture.

Written by program search, without a language model.
Structure: tracker
"""
import math

import numpy as np

PARAMS = {
    "frequency": (0.192071, 0.01, 0.45),
    "offset0": (-0.101179, -1.0, 1.0),
    "sine0": (0.84638, -1.5, 1.5),
    "cosine0": (0.06885, -1.5, 1.5),
    "correct0_x0": (0.183186, -1.0, 1.0),
    "correct0_x1": (0.173073, -1.0, 1.0),
    "correct0_x2": (0.736201, -1.0, 1.0),
    "correct0_x3": (0.125786, -1.0, 1.0),
    "correct0_x11": (-0.086975, -0.2, 0.2),
    "correct0_x12": (-0.0691484, -0.2, 0.2),
    "correct0_x13": (0.0415135, -0.2, 0.2),
    "correct0_x14": (-0.192591, -0.2, 0.2),
    "correct0_x15": (-0.0241011, -0.2, 0.2),
    "pull": (0.300062, 0.3, 10.0),
    "damping": (0.135622, 0.0, 0.5),
    "offset1": (0.129756, -1.0, 1.0),
    "sine1": (-0.472126, -1.5, 1.5),
    "cosine1": (-0.45308, -1.5, 1.5),
    "correct1_x0": (-0.419834, -1.0, 1.0),
    "correct1_x1": (0.388364, -1.0, 1.0),
    "correct1_x2": (-0.201207, -1.0, 1.0),
    "correct1_x3": (0.0392118, -1.0, 1.0),
    "correct1_x11": (-0.0440337, -0.2, 0.2),
    "correct1_x12": (0.105289, -0.2, 0.2),
    "correct1_x13": (-0.0637332, -0.2, 0.2),
    "correct1_x14": (-0.0129447, -0.2, 0.2),
    "correct1_x15": (-0.100173, -0.2, 0.2),
    "offset2": (-0.119087, -1.0, 1.0),
    "sine2": (0.0890627, -1.5, 1.5),
    "cosine2": (0.621009, -1.5, 1.5),
    "correct2_x0": (0.276705, -1.0, 1.0),
    "correct2_x1": (-0.153179, -1.0, 1.0),
    "correct2_x2": (-0.5056, -1.0, 1.0),
    "correct2_x3": (-0.048421, -1.0, 1.0),
    "correct2_x11": (0.0551834, -0.2, 0.2),
    "correct2_x12": (0.0245556, -0.2, 0.2),
    "correct2_x13": (0.0392625, -0.2, 0.2),
    "correct2_x14": (-0.00751271, -0.2, 0.2),
    "correct2_x15": (0.0282087, -0.2, 0.2),
    "offset3": (0.276217, -1.0, 1.0),
    "sine3": (0.0480561, -1.5, 1.5),
    "cosine3": (0.199014, -1.5, 1.5),
    "correct3_x0": (-0.0997216, -1.0, 1.0),
    "correct3_x1": (-0.320455, -1.0, 1.0),
    "correct3_x2": (-0.0998018, -1.0, 1.0),
    "correct3_x3": (0.28565, -1.0, 1.0),
    "correct3_x11": (0.0382602, -0.2, 0.2),
    "correct3_x12": (0.0419308, -0.2, 0.2),
    "correct3_x13": (-0.0257046, -0.2, 0.2),
    "correct3_x14": (-0.099, -0.2, 0.2),
    "correct3_x15": (-0.0303536, -0.2, 0.2),
    "offset4": (-0.311957, -1.0, 1.0),
    "sine4": (0.203685, -1.5, 1.5),
    "cosine4": (0.619363, -1.5, 1.5),
    "correct4_x0": (-0.362737, -1.0, 1.0),
    "correct4_x1": (0.0412213, -1.0, 1.0),
    "correct4_x2": (0.0622024, -1.0, 1.0),
    "correct4_x3": (0.0811572, -1.0, 1.0),
    "correct4_x11": (-0.0880306, -0.2, 0.2),
    "correct4_x12": (0.0437916, -0.2, 0.2),
    "correct4_x13": (-0.0182887, -0.2, 0.2),
    "correct4_x14": (0.0361053, -0.2, 0.2),
    "correct4_x15": (-0.0818501, -0.2, 0.2),
    "offset5": (0.544785, -1.0, 1.0),
    "sine5": (0.0449461, -1.5, 1.5),
    "cosine5": (0.136739, -1.5, 1.5),
    "correct5_x0": (0.113305, -1.0, 1.0),
    "correct5_x1": (-0.123629, -1.0, 1.0),
    "correct5_x2": (0.295642, -1.0, 1.0),
    "correct5_x3": (0.0667696, -1.0, 1.0),
    "correct5_x11": (-0.0519957, -0.2, 0.2),
    "correct5_x12": (0.0324134, -0.2, 0.2),
    "correct5_x13": (0.0364517, -0.2, 0.2),
    "correct5_x14": (0.0513668, -0.2, 0.2),
    "correct5_x15": (-0.0426581, -0.2, 0.2),
    "offset6": (-0.0125607, -1.0, 1.0),
    "sine6": (-0.0625631, -1.5, 1.5),
    "cosine6": (-0.381334, -1.5, 1.5),
    "correct6_x0": (-0.30369, -1.0, 1.0),
    "correct6_x1": (0.148957, -1.0, 1.0),
    "correct6_x2": (-0.402222, -1.0, 1.0),
    "correct6_x3": (-0.138752, -1.0, 1.0),
    "correct6_x11": (0.0296156, -0.2, 0.2),
    "correct6_x12": (0.111741, -0.2, 0.2),
    "correct6_x13": (-0.0372987, -0.2, 0.2),
    "correct6_x14": (0.0581807, -0.2, 0.2),
    "correct6_x15": (-0.0223948, -0.2, 0.2),
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
        u0 = p["pull"] * (goal - x[4]) - p["damping"] * x[16]
        goal = p["offset1"] + p["sine1"] * s + p["cosine1"] * c + p["correct1_x0"] * x[0]
        goal += p["correct1_x1"] * x[1] + p["correct1_x2"] * x[2] + p["correct1_x3"] * x[3]
        goal += p["correct1_x11"] * x[11] + p["correct1_x12"] * x[12]
        goal += p["correct1_x13"] * x[13] + p["correct1_x14"] * x[14]
        goal += p["correct1_x15"] * x[15]
        u1 = p["pull"] * (goal - x[5]) - p["damping"] * x[17]
        goal = p["offset2"] + p["sine2"] * s + p["cosine2"] * c + p["correct2_x0"] * x[0]
        goal += p["correct2_x1"] * x[1] + p["correct2_x2"] * x[2] + p["correct2_x3"] * x[3]
        goal += p["correct2_x11"] * x[11] + p["correct2_x12"] * x[12]
        goal += p["correct2_x13"] * x[13] + p["correct2_x14"] * x[14]
        goal += p["correct2_x15"] * x[15]
        u2 = p["pull"] * (goal - x[6]) - p["damping"] * x[18]
        goal = p["offset3"] + p["sine3"] * s + p["cosine3"] * c + p["correct3_x0"] * x[0]
        goal += p["correct3_x1"] * x[1] + p["correct3_x2"] * x[2] + p["correct3_x3"] * x[3]
        goal += p["correct3_x11"] * x[11] + p["correct3_x12"] * x[12]
        goal += p["correct3_x13"] * x[13] + p["correct3_x14"] * x[14]
        goal += p["correct3_x15"] * x[15]
        u3 = p["pull"] * (goal - x[7]) - p["damping"] * x[19]
        goal = p["offset4"] + p["sine4"] * s + p["cosine4"] * c + p["correct4_x0"] * x[0]
        goal += p["correct4_x1"] * x[1] + p["correct4_x2"] * x[2] + p["correct4_x3"] * x[3]
        goal += p["correct4_x11"] * x[11] + p["correct4_x12"] * x[12]
        goal += p["correct4_x13"] * x[13] + p["correct4_x14"] * x[14]
        goal += p["correct4_x15"] * x[15]
        u4 = p["pull"] * (goal - x[8]) - p["damping"] * x[20]
        goal = p["offset5"] + p["sine5"] * s + p["cosine5"] * c + p["correct5_x0"] * x[0]
        goal += p["correct5_x1"] * x[1] + p["correct5_x2"] * x[2] + p["correct5_x3"] * x[3]
        goal += p["correct5_x11"] * x[11] + p["correct5_x12"] * x[12]
        goal += p["correct5_x13"] * x[13] + p["correct5_x14"] * x[14]
        goal += p["correct5_x15"] * x[15]
        u5 = p["pull"] * (goal - x[9]) - p["damping"] * x[21]
        goal = p["offset6"] + p["sine6"] * s + p["cosine6"] * c + p["correct6_x0"] * x[0]
        goal += p["correct6_x1"] * x[1] + p["correct6_x2"] * x[2] + p["correct6_x3"] * x[3]
        goal += p["correct6_x11"] * x[11] + p["correct6_x12"] * x[12]
        goal += p["correct6_x13"] * x[13] + p["correct6_x14"] * x[14]
        goal += p["correct6_x15"] * x[15]
        u6 = p["pull"] * (goal - x[10]) - p["damping"] * x[22]
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
