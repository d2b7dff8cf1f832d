"""Policy for Pusher-v5, written by program search (no language model).

Held-out mean return -60.7919 (95 % interval -62.9606 to -58.5314; 20 episodes, seeds 20000000 to 20000019).
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
    "frequency": (0.224989, 0.01, 0.45),
    "offset0": (0.136778, -1.0, 1.0),
    "sine0": (0.534537, -1.5, 1.5),
    "cosine0": (0.328718, -1.5, 1.5),
    "correct0_x0": (-0.545542, -1.0, 1.0),
    "correct0_x1": (-0.265798, -1.0, 1.0),
    "correct0_x2": (0.0613201, -1.0, 1.0),
    "correct0_x3": (0.157518, -1.0, 1.0),
    "correct0_x11": (-0.0719565, -0.2, 0.2),
    "correct0_x12": (0.0837794, -0.2, 0.2),
    "correct0_x13": (0.0105067, -0.2, 0.2),
    "correct0_x14": (-0.00048339, -0.2, 0.2),
    "correct0_x15": (0.0408174, -0.2, 0.2),
    "pull": (0.306641, 0.3, 10.0),
    "damping": (0.115567, 0.0, 0.5),
    "offset1": (0.144521, -1.0, 1.0),
    "sine1": (-0.869395, -1.5, 1.5),
    "cosine1": (-0.269444, -1.5, 1.5),
    "correct1_x0": (-0.118931, -1.0, 1.0),
    "correct1_x1": (-0.0461542, -1.0, 1.0),
    "correct1_x2": (-0.347627, -1.0, 1.0),
    "correct1_x3": (0.152664, -1.0, 1.0),
    "correct1_x11": (-0.117743, -0.2, 0.2),
    "correct1_x12": (-0.0077468, -0.2, 0.2),
    "correct1_x13": (-0.0932921, -0.2, 0.2),
    "correct1_x14": (-0.00508218, -0.2, 0.2),
    "correct1_x15": (-0.0400438, -0.2, 0.2),
    "offset2": (0.265043, -1.0, 1.0),
    "sine2": (0.813292, -1.5, 1.5),
    "cosine2": (-0.0684148, -1.5, 1.5),
    "correct2_x0": (-0.204369, -1.0, 1.0),
    "correct2_x1": (0.784531, -1.0, 1.0),
    "correct2_x2": (0.0144868, -1.0, 1.0),
    "correct2_x3": (0.116066, -1.0, 1.0),
    "correct2_x11": (0.00600943, -0.2, 0.2),
    "correct2_x12": (-0.195531, -0.2, 0.2),
    "correct2_x13": (-0.0851201, -0.2, 0.2),
    "correct2_x14": (-0.0374526, -0.2, 0.2),
    "correct2_x15": (-0.0644868, -0.2, 0.2),
    "offset3": (0.247784, -1.0, 1.0),
    "sine3": (0.720663, -1.5, 1.5),
    "cosine3": (-0.310196, -1.5, 1.5),
    "correct3_x0": (-0.284035, -1.0, 1.0),
    "correct3_x1": (0.675047, -1.0, 1.0),
    "correct3_x2": (-0.103822, -1.0, 1.0),
    "correct3_x3": (-0.99594, -1.0, 1.0),
    "correct3_x11": (0.0729004, -0.2, 0.2),
    "correct3_x12": (-0.0922767, -0.2, 0.2),
    "correct3_x13": (0.11214, -0.2, 0.2),
    "correct3_x14": (0.0679327, -0.2, 0.2),
    "correct3_x15": (-0.0294256, -0.2, 0.2),
    "offset4": (0.316501, -1.0, 1.0),
    "sine4": (0.258368, -1.5, 1.5),
    "cosine4": (0.926759, -1.5, 1.5),
    "correct4_x0": (-0.365059, -1.0, 1.0),
    "correct4_x1": (0.29388, -1.0, 1.0),
    "correct4_x2": (-0.0265604, -1.0, 1.0),
    "correct4_x3": (-0.519533, -1.0, 1.0),
    "correct4_x11": (-0.0296821, -0.2, 0.2),
    "correct4_x12": (0.0528572, -0.2, 0.2),
    "correct4_x13": (-0.0584976, -0.2, 0.2),
    "correct4_x14": (-0.00807911, -0.2, 0.2),
    "correct4_x15": (-0.0463877, -0.2, 0.2),
    "offset5": (-0.247487, -1.0, 1.0),
    "sine5": (0.584583, -1.5, 1.5),
    "cosine5": (0.623545, -1.5, 1.5),
    "correct5_x0": (0.479394, -1.0, 1.0),
    "correct5_x1": (0.336344, -1.0, 1.0),
    "correct5_x2": (-0.132652, -1.0, 1.0),
    "correct5_x3": (-0.0364588, -1.0, 1.0),
    "correct5_x11": (-0.00299823, -0.2, 0.2),
    "correct5_x12": (-0.0331331, -0.2, 0.2),
    "correct5_x13": (-0.0730559, -0.2, 0.2),
    "correct5_x14": (0.0360066, -0.2, 0.2),
    "correct5_x15": (-0.109472, -0.2, 0.2),
    "offset6": (0.156241, -1.0, 1.0),
    "sine6": (-0.593372, -1.5, 1.5),
    "cosine6": (-0.264813, -1.5, 1.5),
    "correct6_x0": (-0.0516469, -1.0, 1.0),
    "correct6_x1": (0.492411, -1.0, 1.0),
    "correct6_x2": (-0.197862, -1.0, 1.0),
    "correct6_x3": (0.123256, -1.0, 1.0),
    "correct6_x11": (0.0403763, -0.2, 0.2),
    "correct6_x12": (-0.0100805, -0.2, 0.2),
    "correct6_x13": (0.0131744, -0.2, 0.2),
    "correct6_x14": (-0.0682751, -0.2, 0.2),
    "correct6_x15": (0.0600477, -0.2, 0.2),
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
