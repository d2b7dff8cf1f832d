"""Policy for HalfCheetah-v5, written by program search (no language model).

Held-out mean return 703.149 (95 % interval 693.876 to 712.179; 20 episodes, seeds 20000000 to 20000019).
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
    "frequency": (0.118564, 0.01, 0.45),
    "offset0": (0.060284, -1.0, 1.0),
    "sine0": (-0.148985, -1.5, 1.5),
    "cosine0": (0.987667, -1.5, 1.5),
    "correct0_x0": (0.150627, -1.0, 1.0),
    "correct0_x1": (-0.0220405, -1.0, 1.0),
    "correct0_x8": (0.000450601, -0.2, 0.2),
    "correct0_x9": (0.0462644, -0.2, 0.2),
    "correct0_x10": (-0.0793854, -0.2, 0.2),
    "pull": (1.10111, 0.3, 10.0),
    "damping": (0.0461499, 0.0, 0.5),
    "offset1": (-0.796875, -1.0, 1.0),
    "sine1": (-0.214763, -1.5, 1.5),
    "cosine1": (-0.357725, -1.5, 1.5),
    "correct1_x0": (-0.103334, -1.0, 1.0),
    "correct1_x1": (-0.894072, -1.0, 1.0),
    "correct1_x8": (-0.00140242, -0.2, 0.2),
    "correct1_x9": (0.0122828, -0.2, 0.2),
    "correct1_x10": (0.00286075, -0.2, 0.2),
    "offset2": (0.152058, -1.0, 1.0),
    "sine2": (0.0522821, -1.5, 1.5),
    "cosine2": (0.0169518, -1.5, 1.5),
    "correct2_x0": (-0.0366799, -1.0, 1.0),
    "correct2_x1": (-0.0478445, -1.0, 1.0),
    "correct2_x8": (0.0811945, -0.2, 0.2),
    "correct2_x9": (0.0323457, -0.2, 0.2),
    "correct2_x10": (-0.0185531, -0.2, 0.2),
    "offset3": (-0.315823, -1.0, 1.0),
    "sine3": (0.013384, -1.5, 1.5),
    "cosine3": (0.119868, -1.5, 1.5),
    "correct3_x0": (0.00166844, -1.0, 1.0),
    "correct3_x1": (0.0312829, -1.0, 1.0),
    "correct3_x8": (-0.0900283, -0.2, 0.2),
    "correct3_x9": (0.00328577, -0.2, 0.2),
    "correct3_x10": (-0.0252684, -0.2, 0.2),
    "offset4": (-0.0654827, -1.0, 1.0),
    "sine4": (-0.0111699, -1.5, 1.5),
    "cosine4": (0.769825, -1.5, 1.5),
    "correct4_x0": (0.246487, -1.0, 1.0),
    "correct4_x1": (-0.203495, -1.0, 1.0),
    "correct4_x8": (-0.0265151, -0.2, 0.2),
    "correct4_x9": (0.0060578, -0.2, 0.2),
    "correct4_x10": (0.00360792, -0.2, 0.2),
    "offset5": (-0.29541, -1.0, 1.0),
    "sine5": (-0.743005, -1.5, 1.5),
    "cosine5": (0.787748, -1.5, 1.5),
    "correct5_x0": (-0.0787442, -1.0, 1.0),
    "correct5_x1": (-0.132436, -1.0, 1.0),
    "correct5_x8": (0.0430125, -0.2, 0.2),
    "correct5_x9": (-0.0364885, -0.2, 0.2),
    "correct5_x10": (0.0448699, -0.2, 0.2),
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
        goal += p["correct0_x1"] * x[1] + p["correct0_x8"] * x[8] + p["correct0_x9"] * x[9]
        goal += p["correct0_x10"] * x[10]
        u0 = p["pull"] * (goal - x[2]) - p["damping"] * x[11]
        goal = p["offset1"] + p["sine1"] * s + p["cosine1"] * c + p["correct1_x0"] * x[0]
        goal += p["correct1_x1"] * x[1] + p["correct1_x8"] * x[8] + p["correct1_x9"] * x[9]
        goal += p["correct1_x10"] * x[10]
        u1 = p["pull"] * (goal - x[3]) - p["damping"] * x[12]
        goal = p["offset2"] + p["sine2"] * s + p["cosine2"] * c + p["correct2_x0"] * x[0]
        goal += p["correct2_x1"] * x[1] + p["correct2_x8"] * x[8] + p["correct2_x9"] * x[9]
        goal += p["correct2_x10"] * x[10]
        u2 = p["pull"] * (goal - x[4]) - p["damping"] * x[13]
        goal = p["offset3"] + p["sine3"] * s + p["cosine3"] * c + p["correct3_x0"] * x[0]
        goal += p["correct3_x1"] * x[1] + p["correct3_x8"] * x[8] + p["correct3_x9"] * x[9]
        goal += p["correct3_x10"] * x[10]
        u3 = p["pull"] * (goal - x[5]) - p["damping"] * x[14]
        goal = p["offset4"] + p["sine4"] * s + p["cosine4"] * c + p["correct4_x0"] * x[0]
        goal += p["correct4_x1"] * x[1] + p["correct4_x8"] * x[8] + p["correct4_x9"] * x[9]
        goal += p["correct4_x10"] * x[10]
        u4 = p["pull"] * (goal - x[6]) - p["damping"] * x[15]
        goal = p["offset5"] + p["sine5"] * s + p["cosine5"] * c + p["correct5_x0"] * x[0]
        goal += p["correct5_x1"] * x[1] + p["correct5_x8"] * x[8] + p["correct5_x9"] * x[9]
        goal += p["correct5_x10"] * x[10]
        u5 = p["pull"] * (goal - x[7]) - p["damping"] * x[16]
        u = [u0, u1, u2, u3, u4, u5]
        return np.array([clip(v) for v in u], dtype=np.float32)


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

    return np.clip(np.asarray(action, dtype=np.float32), np.float32(-1.0), np.float32(1.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='HalfCheetah-v5', help="environment id")
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
