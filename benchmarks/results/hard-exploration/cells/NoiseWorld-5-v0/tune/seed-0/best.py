"""Policy for benchmarks.environments:promptpo/NoiseWorld-5-v0, written by program search (no language model).

Held-out mean return -100 (95 % interval -100 to -100; 30 episodes, seeds 20000000 to 20000029).
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
    "out0_x0": (0.0, -1.0, 1.0),
    "out0_x1": (0.0, -1.0, 1.0),
    "out0_x2": (0.0, -1.0, 1.0),
    "out0_x3": (0.0, -1.0, 1.0),
    "out0_x4": (0.0, -1.0, 1.0),
    "out0_x5": (0.0, -1.0, 1.0),
    "out0_x6": (0.0, -1.0, 1.0),
    "out0_x7": (0.0, -1.0, 1.0),
    "out0_x8": (0.0, -1.0, 1.0),
    "out0_x9": (0.0, -1.0, 1.0),
    "out0_x10": (0.0, -1.0, 1.0),
    "out0_x11": (0.0, -1.0, 1.0),
    "out0_x12": (0.0, -1.0, 1.0),
    "out0_x13": (0.0, -1.0, 1.0),
    "out0_x14": (0.0, -1.0, 1.0),
    "out0_x15": (0.0, -1.0, 1.0),
    "out0_x16": (0.0, -1.0, 1.0),
    "out0_x17": (0.0, -1.0, 1.0),
    "out0_x18": (0.0, -1.0, 1.0),
    "out0_x19": (0.0, -1.0, 1.0),
    "out0_x20": (0.0, -1.0, 1.0),
    "out0_x21": (0.0, -1.0, 1.0),
    "out0_x22": (0.0, -1.0, 1.0),
    "out0_x23": (0.0, -1.0, 1.0),
    "out0_x24": (0.0, -1.0, 1.0),
    "out0_x25": (0.0, -1.0, 1.0),
    "out0_x26": (0.0, -1.0, 1.0),
    "out0_x27": (0.0, -1.0, 1.0),
    "out0_x28": (0.0, -1.0, 1.0),
    "out0_x29": (0.0, -1.0, 1.0),
    "out0_x30": (0.0, -1.0, 1.0),
    "out0_x31": (0.0, -1.0, 1.0),
    "out0_x32": (0.0, -1.0, 1.0),
    "out0_x33": (0.0, -1.0, 1.0),
    "out0_x34": (0.0, -1.0, 1.0),
    "out0_x35": (0.0, -1.0, 1.0),
    "out0_x36": (0.0, -1.0, 1.0),
    "out0_x37": (0.0, -1.0, 1.0),
    "out0_x38": (0.0, -1.0, 1.0),
    "out0_x39": (0.0, -1.0, 1.0),
    "out0_x40": (0.0, -1.0, 1.0),
    "out0_x41": (0.0, -1.0, 1.0),
    "out0_x42": (0.0, -1.0, 1.0),
    "out0_x43": (0.0, -1.0, 1.0),
    "out0_x44": (0.0, -1.0, 1.0),
    "out0_x45": (0.0, -1.0, 1.0),
    "out0_x46": (0.0, -1.0, 1.0),
    "out0_x47": (0.0, -1.0, 1.0),
    "out0_x48": (0.0, -1.0, 1.0),
    "out0_x49": (0.0, -1.0, 1.0),
    "out0_x50": (0.0, -1.0, 1.0),
    "out0_x51": (0.0, -1.0, 1.0),
    "out0_x52": (0.0, -1.0, 1.0),
    "out0_x53": (0.0, -1.0, 1.0),
    "out0_x54": (0.0, -1.0, 1.0),
    "out0_x55": (0.0, -1.0, 1.0),
    "out0_x56": (0.0, -1.0, 1.0),
    "out0_x57": (0.0, -1.0, 1.0),
    "out0_x58": (0.0, -1.0, 1.0),
    "out0_x59": (0.0, -1.0, 1.0),
    "out0_x60": (0.0, -1.0, 1.0),
    "out0_x61": (0.0, -1.0, 1.0),
    "out0_x62": (0.0, -1.0, 1.0),
    "out0_x63": (0.0, -1.0, 1.0),
    "out0_x64": (0.0, -1.0, 1.0),
    "out0_x65": (0.0, -1.0, 1.0),
    "out0_x66": (0.0, -1.0, 1.0),
    "out0_x67": (0.0, -1.0, 1.0),
    "out0_x68": (0.0, -1.0, 1.0),
    "out0_x69": (0.0, -1.0, 1.0),
    "out0_x70": (0.0, -1.0, 1.0),
    "out0_x71": (0.0, -1.0, 1.0),
    "out0_x72": (0.0, -1.0, 1.0),
    "out0_x73": (0.0, -1.0, 1.0),
    "out0_x74": (0.0, -1.0, 1.0),
    "out0_x75": (0.0, -1.0, 1.0),
    "out0_x76": (0.0, -1.0, 1.0),
    "out0_x77": (0.0, -1.0, 1.0),
    "out0_x78": (0.0, -1.0, 1.0),
    "out0_x79": (0.0, -1.0, 1.0),
    "out0_x80": (0.0, -1.0, 1.0),
    "out0_x81": (0.0, -1.0, 1.0),
    "out0_x82": (0.0, -1.0, 1.0),
    "out0_x83": (0.0, -1.0, 1.0),
    "out0_x84": (0.0, -1.0, 1.0),
    "out0_x85": (0.0, -1.0, 1.0),
    "out0_x86": (0.0, -1.0, 1.0),
    "out0_x87": (0.0, -1.0, 1.0),
    "out0_x88": (0.0, -1.0, 1.0),
    "out0_x89": (0.0, -1.0, 1.0),
    "out0_x90": (0.0, -1.0, 1.0),
    "out0_x91": (0.0, -1.0, 1.0),
    "out0_x92": (0.0, -1.0, 1.0),
    "out0_x93": (0.0, -1.0, 1.0),
    "out0_x94": (0.0, -1.0, 1.0),
    "out0_x95": (0.0, -1.0, 1.0),
    "out0_x96": (0.0, -1.0, 1.0),
    "out0_x97": (0.0, -1.0, 1.0),
    "out0_x98": (0.0, -1.0, 1.0),
    "out0_x99": (0.0, -1.0, 1.0),
    "out0_x100": (0.0, -1.0, 1.0),
    "out0_x101": (0.0, -1.0, 1.0),
    "out0_x102": (0.0, -1.0, 1.0),
    "out0_x103": (0.0, -1.0, 1.0),
}


def clip(value):
    """Limit a score to -1..1."""
    return max(-1.0, min(1.0, value))


def level(value, n):
    """A score from -1 to 1 as one of n ordered levels."""
    return min(n - 1, int(0.5 * (clip(value) + 1.0) * n))


def features(obs):
    """The observation as a list of numbers of about one."""
    return ((np.ravel(obs) - np.array([0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])) / np.array([0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])).tolist()


class Policy:
    def __init__(self, params):
        self.params = params

    def act(self, obs):
        p = self.params
        x = features(obs)
        u0 = p["out0"] + p["out0_x0"] * x[0] + p["out0_x1"] * x[1] + p["out0_x2"] * x[2]
        u0 += p["out0_x3"] * x[3] + p["out0_x4"] * x[4] + p["out0_x5"] * x[5]
        u0 += p["out0_x6"] * x[6] + p["out0_x7"] * x[7] + p["out0_x8"] * x[8]
        u0 += p["out0_x9"] * x[9] + p["out0_x10"] * x[10] + p["out0_x11"] * x[11]
        u0 += p["out0_x12"] * x[12] + p["out0_x13"] * x[13] + p["out0_x14"] * x[14]
        u0 += p["out0_x15"] * x[15] + p["out0_x16"] * x[16] + p["out0_x17"] * x[17]
        u0 += p["out0_x18"] * x[18] + p["out0_x19"] * x[19] + p["out0_x20"] * x[20]
        u0 += p["out0_x21"] * x[21] + p["out0_x22"] * x[22] + p["out0_x23"] * x[23]
        u0 += p["out0_x24"] * x[24] + p["out0_x25"] * x[25] + p["out0_x26"] * x[26]
        u0 += p["out0_x27"] * x[27] + p["out0_x28"] * x[28] + p["out0_x29"] * x[29]
        u0 += p["out0_x30"] * x[30] + p["out0_x31"] * x[31] + p["out0_x32"] * x[32]
        u0 += p["out0_x33"] * x[33] + p["out0_x34"] * x[34] + p["out0_x35"] * x[35]
        u0 += p["out0_x36"] * x[36] + p["out0_x37"] * x[37] + p["out0_x38"] * x[38]
        u0 += p["out0_x39"] * x[39] + p["out0_x40"] * x[40] + p["out0_x41"] * x[41]
        u0 += p["out0_x42"] * x[42] + p["out0_x43"] * x[43] + p["out0_x44"] * x[44]
        u0 += p["out0_x45"] * x[45] + p["out0_x46"] * x[46] + p["out0_x47"] * x[47]
        u0 += p["out0_x48"] * x[48] + p["out0_x49"] * x[49] + p["out0_x50"] * x[50]
        u0 += p["out0_x51"] * x[51] + p["out0_x52"] * x[52] + p["out0_x53"] * x[53]
        u0 += p["out0_x54"] * x[54] + p["out0_x55"] * x[55] + p["out0_x56"] * x[56]
        u0 += p["out0_x57"] * x[57] + p["out0_x58"] * x[58] + p["out0_x59"] * x[59]
        u0 += p["out0_x60"] * x[60] + p["out0_x61"] * x[61] + p["out0_x62"] * x[62]
        u0 += p["out0_x63"] * x[63] + p["out0_x64"] * x[64] + p["out0_x65"] * x[65]
        u0 += p["out0_x66"] * x[66] + p["out0_x67"] * x[67] + p["out0_x68"] * x[68]
        u0 += p["out0_x69"] * x[69] + p["out0_x70"] * x[70] + p["out0_x71"] * x[71]
        u0 += p["out0_x72"] * x[72] + p["out0_x73"] * x[73] + p["out0_x74"] * x[74]
        u0 += p["out0_x75"] * x[75] + p["out0_x76"] * x[76] + p["out0_x77"] * x[77]
        u0 += p["out0_x78"] * x[78] + p["out0_x79"] * x[79] + p["out0_x80"] * x[80]
        u0 += p["out0_x81"] * x[81] + p["out0_x82"] * x[82] + p["out0_x83"] * x[83]
        u0 += p["out0_x84"] * x[84] + p["out0_x85"] * x[85] + p["out0_x86"] * x[86]
        u0 += p["out0_x87"] * x[87] + p["out0_x88"] * x[88] + p["out0_x89"] * x[89]
        u0 += p["out0_x90"] * x[90] + p["out0_x91"] * x[91] + p["out0_x92"] * x[92]
        u0 += p["out0_x93"] * x[93] + p["out0_x94"] * x[94] + p["out0_x95"] * x[95]
        u0 += p["out0_x96"] * x[96] + p["out0_x97"] * x[97] + p["out0_x98"] * x[98]
        u0 += p["out0_x99"] * x[99] + p["out0_x100"] * x[100] + p["out0_x101"] * x[101]
        u0 += p["out0_x102"] * x[102] + p["out0_x103"] * x[103]
        u = [u0]
        return level(u[0], 4)


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
    parser.add_argument("--env", default='benchmarks.environments:promptpo/NoiseWorld-5-v0', help="environment id")
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
