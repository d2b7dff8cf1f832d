"""Policy for Pusher-v5, written by program search (no language model).

Held-out mean return -60.3144 (95 % interval -62.5031 to -57.9725; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c1t of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

One clock drives all joints: each is pulled towards an angle that swings with an amplitude and
phase of its own, corrected by the body's posture.

Written by program search, without a language model.
Structure: tracker
"""
import math

import numpy as np

PARAMS = {
    "frequency": (0.345772, 0.01, 0.45),
    "offset0": (-0.417183, -1.0, 1.0),
    "sine0": (0.0310577, -1.5, 1.5),
    "cosine0": (0.261556, -1.5, 1.5),
    "correct0_x0": (-0.256282, -1.0, 1.0),
    "correct0_x1": (-0.126052, -1.0, 1.0),
    "correct0_x2": (-0.166198, -1.0, 1.0),
    "correct0_x3": (0.553566, -1.0, 1.0),
    "correct0_x11": (0.0245096, -0.2, 0.2),
    "correct0_x12": (0.000197236, -0.2, 0.2),
    "correct0_x13": (0.0236201, -0.2, 0.2),
    "correct0_x14": (0.0382064, -0.2, 0.2),
    "correct0_x15": (-0.00924357, -0.2, 0.2),
    "pull": (0.3, 0.3, 10.0),
    "damping": (0.0156661, 0.0, 0.5),
    "offset1": (0.329471, -1.0, 1.0),
    "sine1": (0.0513345, -1.5, 1.5),
    "cosine1": (0.36695, -1.5, 1.5),
    "correct1_x0": (0.0236265, -1.0, 1.0),
    "correct1_x1": (-0.521511, -1.0, 1.0),
    "correct1_x2": (-0.476157, -1.0, 1.0),
    "correct1_x3": (-0.193279, -1.0, 1.0),
    "correct1_x11": (0.0196251, -0.2, 0.2),
    "correct1_x12": (-0.0316871, -0.2, 0.2),
    "correct1_x13": (0.00418019, -0.2, 0.2),
    "correct1_x14": (0.0376534, -0.2, 0.2),
    "correct1_x15": (0.0239276, -0.2, 0.2),
    "offset2": (-0.0288282, -1.0, 1.0),
    "sine2": (-0.0322263, -1.5, 1.5),
    "cosine2": (0.391587, -1.5, 1.5),
    "correct2_x0": (0.506743, -1.0, 1.0),
    "correct2_x1": (0.0328361, -1.0, 1.0),
    "correct2_x2": (-0.593198, -1.0, 1.0),
    "correct2_x3": (0.501189, -1.0, 1.0),
    "correct2_x11": (0.0110038, -0.2, 0.2),
    "correct2_x12": (0.137299, -0.2, 0.2),
    "correct2_x13": (-0.0417169, -0.2, 0.2),
    "correct2_x14": (0.0130803, -0.2, 0.2),
    "correct2_x15": (-0.0269116, -0.2, 0.2),
    "offset3": (0.477259, -1.0, 1.0),
    "sine3": (0.647586, -1.5, 1.5),
    "cosine3": (-0.144983, -1.5, 1.5),
    "correct3_x0": (0.0162944, -1.0, 1.0),
    "correct3_x1": (-0.0250825, -1.0, 1.0),
    "correct3_x2": (0.150771, -1.0, 1.0),
    "correct3_x3": (0.108711, -1.0, 1.0),
    "correct3_x11": (-0.0191167, -0.2, 0.2),
    "correct3_x12": (-0.0120465, -0.2, 0.2),
    "correct3_x13": (0.0867151, -0.2, 0.2),
    "correct3_x14": (-0.00572159, -0.2, 0.2),
    "correct3_x15": (-0.116795, -0.2, 0.2),
    "offset4": (-0.230644, -1.0, 1.0),
    "sine4": (-0.33167, -1.5, 1.5),
    "cosine4": (0.164022, -1.5, 1.5),
    "correct4_x0": (0.077229, -1.0, 1.0),
    "correct4_x1": (0.196883, -1.0, 1.0),
    "correct4_x2": (-0.495622, -1.0, 1.0),
    "correct4_x3": (0.142625, -1.0, 1.0),
    "correct4_x11": (-0.0201026, -0.2, 0.2),
    "correct4_x12": (0.0719551, -0.2, 0.2),
    "correct4_x13": (-0.0321704, -0.2, 0.2),
    "correct4_x14": (-0.0222858, -0.2, 0.2),
    "correct4_x15": (0.10915, -0.2, 0.2),
    "offset5": (0.0358908, -1.0, 1.0),
    "sine5": (0.817148, -1.5, 1.5),
    "cosine5": (0.518525, -1.5, 1.5),
    "correct5_x0": (0.363531, -1.0, 1.0),
    "correct5_x1": (-0.0487148, -1.0, 1.0),
    "correct5_x2": (-0.226438, -1.0, 1.0),
    "correct5_x3": (-0.267705, -1.0, 1.0),
    "correct5_x11": (-0.0913475, -0.2, 0.2),
    "correct5_x12": (0.0485546, -0.2, 0.2),
    "correct5_x13": (-0.0618024, -0.2, 0.2),
    "correct5_x14": (0.0554726, -0.2, 0.2),
    "correct5_x15": (-0.00372483, -0.2, 0.2),
    "offset6": (-0.304477, -1.0, 1.0),
    "sine6": (0.286353, -1.5, 1.5),
    "cosine6": (0.704791, -1.5, 1.5),
    "correct6_x0": (0.313122, -1.0, 1.0),
    "correct6_x1": (-0.538527, -1.0, 1.0),
    "correct6_x2": (-0.048194, -1.0, 1.0),
    "correct6_x3": (0.191015, -1.0, 1.0),
    "correct6_x11": (0.00679809, -0.2, 0.2),
    "correct6_x12": (0.0162625, -0.2, 0.2),
    "correct6_x13": (0.0196872, -0.2, 0.2),
    "correct6_x14": (0.158501, -0.2, 0.2),
    "correct6_x15": (0.129119, -0.2, 0.2),
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
