"""Policy for Ant-v5, written by program search (no language model).

Held-out mean return 994.733 (95 % interval 993.146 to 996.282; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c2 of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Every output is a weighted sum of the observation's numbers; a comparison or a limit makes it an
action.

Written by program search, without a language model.
Structure: linear
"""
import math

import numpy as np

PARAMS = {
    "out0": (0.0, -5.0, 5.0),
    "out0_x6": (0.0, -5.0, 5.0),
    "out0_x8": (0.0, -5.0, 5.0),
    "out0_x10": (0.0, -5.0, 5.0),
    "out0_x11": (0.0, -5.0, 5.0),
    "out0_x23": (0.0, -5.0, 5.0),
    "out0_x27": (0.0, -5.0, 5.0),
    "out0_x36": (0.0, -5.0, 5.0),
    "out0_x42": (0.0, -5.0, 5.0),
    "out0_x46": (0.0, -5.0, 5.0),
    "out0_x48": (0.0, -5.0, 5.0),
    "out0_x56": (0.0, -5.0, 5.0),
    "out0_x72": (0.0, -5.0, 5.0),
    "out0_x73": (0.0, -5.0, 5.0),
    "out0_x74": (0.0, -5.0, 5.0),
    "out0_x75": (0.0, -5.0, 5.0),
    "out0_x78": (0.0, -5.0, 5.0),
    "out0_x81": (0.0, -5.0, 5.0),
    "out0_x87": (0.0, -5.0, 5.0),
    "out0_x96": (0.0, -5.0, 5.0),
    "out0_x97": (0.0, -5.0, 5.0),
    "out1": (0.0, -5.0, 5.0),
    "out1_x6": (0.0, -5.0, 5.0),
    "out1_x8": (0.0, -5.0, 5.0),
    "out1_x10": (0.0, -5.0, 5.0),
    "out1_x11": (0.0, -5.0, 5.0),
    "out1_x23": (0.0, -5.0, 5.0),
    "out1_x27": (0.0, -5.0, 5.0),
    "out1_x36": (0.0, -5.0, 5.0),
    "out1_x42": (0.0, -5.0, 5.0),
    "out1_x46": (0.0, -5.0, 5.0),
    "out1_x48": (0.0, -5.0, 5.0),
    "out1_x56": (0.0, -5.0, 5.0),
    "out1_x72": (0.0, -5.0, 5.0),
    "out1_x73": (0.0, -5.0, 5.0),
    "out1_x74": (0.0, -5.0, 5.0),
    "out1_x75": (0.0, -5.0, 5.0),
    "out1_x78": (0.0, -5.0, 5.0),
    "out1_x81": (0.0, -5.0, 5.0),
    "out1_x87": (0.0, -5.0, 5.0),
    "out1_x96": (0.0, -5.0, 5.0),
    "out1_x97": (0.0, -5.0, 5.0),
    "out2": (0.0, -5.0, 5.0),
    "out2_x6": (0.0, -5.0, 5.0),
    "out2_x8": (0.0, -5.0, 5.0),
    "out2_x10": (0.0, -5.0, 5.0),
    "out2_x11": (0.0, -5.0, 5.0),
    "out2_x23": (0.0, -5.0, 5.0),
    "out2_x27": (0.0, -5.0, 5.0),
    "out2_x36": (0.0, -5.0, 5.0),
    "out2_x42": (0.0, -5.0, 5.0),
    "out2_x46": (0.0, -5.0, 5.0),
    "out2_x48": (0.0, -5.0, 5.0),
    "out2_x56": (0.0, -5.0, 5.0),
    "out2_x72": (0.0, -5.0, 5.0),
    "out2_x73": (0.0, -5.0, 5.0),
    "out2_x74": (0.0, -5.0, 5.0),
    "out2_x75": (0.0, -5.0, 5.0),
    "out2_x78": (0.0, -5.0, 5.0),
    "out2_x81": (0.0, -5.0, 5.0),
    "out2_x87": (0.0, -5.0, 5.0),
    "out2_x96": (0.0, -5.0, 5.0),
    "out2_x97": (0.0, -5.0, 5.0),
    "out3": (0.0, -5.0, 5.0),
    "out3_x6": (0.0, -5.0, 5.0),
    "out3_x8": (0.0, -5.0, 5.0),
    "out3_x10": (0.0, -5.0, 5.0),
    "out3_x11": (0.0, -5.0, 5.0),
    "out3_x23": (0.0, -5.0, 5.0),
    "out3_x27": (0.0, -5.0, 5.0),
    "out3_x36": (0.0, -5.0, 5.0),
    "out3_x42": (0.0, -5.0, 5.0),
    "out3_x46": (0.0, -5.0, 5.0),
    "out3_x48": (0.0, -5.0, 5.0),
    "out3_x56": (0.0, -5.0, 5.0),
    "out3_x72": (0.0, -5.0, 5.0),
    "out3_x73": (0.0, -5.0, 5.0),
    "out3_x74": (0.0, -5.0, 5.0),
    "out3_x75": (0.0, -5.0, 5.0),
    "out3_x78": (0.0, -5.0, 5.0),
    "out3_x81": (0.0, -5.0, 5.0),
    "out3_x87": (0.0, -5.0, 5.0),
    "out3_x96": (0.0, -5.0, 5.0),
    "out3_x97": (0.0, -5.0, 5.0),
    "out4": (0.0, -5.0, 5.0),
    "out4_x6": (0.0, -5.0, 5.0),
    "out4_x8": (0.0, -5.0, 5.0),
    "out4_x10": (0.0, -5.0, 5.0),
    "out4_x11": (0.0, -5.0, 5.0),
    "out4_x23": (0.0, -5.0, 5.0),
    "out4_x27": (0.0, -5.0, 5.0),
    "out4_x36": (0.0, -5.0, 5.0),
    "out4_x42": (0.0, -5.0, 5.0),
    "out4_x46": (0.0, -5.0, 5.0),
    "out4_x48": (0.0, -5.0, 5.0),
    "out4_x56": (0.0, -5.0, 5.0),
    "out4_x72": (0.0, -5.0, 5.0),
    "out4_x73": (0.0, -5.0, 5.0),
    "out4_x74": (0.0, -5.0, 5.0),
    "out4_x75": (0.0, -5.0, 5.0),
    "out4_x78": (0.0, -5.0, 5.0),
    "out4_x81": (0.0, -5.0, 5.0),
    "out4_x87": (0.0, -5.0, 5.0),
    "out4_x96": (0.0, -5.0, 5.0),
    "out4_x97": (0.0, -5.0, 5.0),
    "out5": (0.0, -5.0, 5.0),
    "out5_x6": (0.0, -5.0, 5.0),
    "out5_x8": (0.0, -5.0, 5.0),
    "out5_x10": (0.0, -5.0, 5.0),
    "out5_x11": (0.0, -5.0, 5.0),
    "out5_x23": (0.0, -5.0, 5.0),
    "out5_x27": (0.0, -5.0, 5.0),
    "out5_x36": (0.0, -5.0, 5.0),
    "out5_x42": (0.0, -5.0, 5.0),
    "out5_x46": (0.0, -5.0, 5.0),
    "out5_x48": (0.0, -5.0, 5.0),
    "out5_x56": (0.0, -5.0, 5.0),
    "out5_x72": (0.0, -5.0, 5.0),
    "out5_x73": (0.0, -5.0, 5.0),
    "out5_x74": (0.0, -5.0, 5.0),
    "out5_x75": (0.0, -5.0, 5.0),
    "out5_x78": (0.0, -5.0, 5.0),
    "out5_x81": (0.0, -5.0, 5.0),
    "out5_x87": (0.0, -5.0, 5.0),
    "out5_x96": (0.0, -5.0, 5.0),
    "out5_x97": (0.0, -5.0, 5.0),
    "out6": (0.0, -5.0, 5.0),
    "out6_x6": (0.0, -5.0, 5.0),
    "out6_x8": (0.0, -5.0, 5.0),
    "out6_x10": (0.0, -5.0, 5.0),
    "out6_x11": (0.0, -5.0, 5.0),
    "out6_x23": (0.0, -5.0, 5.0),
    "out6_x27": (0.0, -5.0, 5.0),
    "out6_x36": (0.0, -5.0, 5.0),
    "out6_x42": (0.0, -5.0, 5.0),
    "out6_x46": (0.0, -5.0, 5.0),
    "out6_x48": (0.0, -5.0, 5.0),
    "out6_x56": (0.0, -5.0, 5.0),
    "out6_x72": (0.0, -5.0, 5.0),
    "out6_x73": (0.0, -5.0, 5.0),
    "out6_x74": (0.0, -5.0, 5.0),
    "out6_x75": (0.0, -5.0, 5.0),
    "out6_x78": (0.0, -5.0, 5.0),
    "out6_x81": (0.0, -5.0, 5.0),
    "out6_x87": (0.0, -5.0, 5.0),
    "out6_x96": (0.0, -5.0, 5.0),
    "out6_x97": (0.0, -5.0, 5.0),
    "out7": (0.0, -5.0, 5.0),
    "out7_x6": (0.0, -5.0, 5.0),
    "out7_x8": (0.0, -5.0, 5.0),
    "out7_x10": (0.0, -5.0, 5.0),
    "out7_x11": (0.0, -5.0, 5.0),
    "out7_x23": (0.0, -5.0, 5.0),
    "out7_x27": (0.0, -5.0, 5.0),
    "out7_x36": (0.0, -5.0, 5.0),
    "out7_x42": (0.0, -5.0, 5.0),
    "out7_x46": (0.0, -5.0, 5.0),
    "out7_x48": (0.0, -5.0, 5.0),
    "out7_x56": (0.0, -5.0, 5.0),
    "out7_x72": (0.0, -5.0, 5.0),
    "out7_x73": (0.0, -5.0, 5.0),
    "out7_x74": (0.0, -5.0, 5.0),
    "out7_x75": (0.0, -5.0, 5.0),
    "out7_x78": (0.0, -5.0, 5.0),
    "out7_x81": (0.0, -5.0, 5.0),
    "out7_x87": (0.0, -5.0, 5.0),
    "out7_x96": (0.0, -5.0, 5.0),
    "out7_x97": (0.0, -5.0, 5.0),
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

    def act(self, obs):
        p = self.params
        x = features(obs)
        u0 = p["out0"] + p["out0_x6"] * x[6] + p["out0_x8"] * x[8] + p["out0_x10"] * x[10]
        u0 += p["out0_x11"] * x[11] + p["out0_x23"] * x[23] + p["out0_x27"] * x[27]
        u0 += p["out0_x36"] * x[36] + p["out0_x42"] * x[42] + p["out0_x46"] * x[46]
        u0 += p["out0_x48"] * x[48] + p["out0_x56"] * x[56] + p["out0_x72"] * x[72]
        u0 += p["out0_x73"] * x[73] + p["out0_x74"] * x[74] + p["out0_x75"] * x[75]
        u0 += p["out0_x78"] * x[78] + p["out0_x81"] * x[81] + p["out0_x87"] * x[87]
        u0 += p["out0_x96"] * x[96] + p["out0_x97"] * x[97]
        u1 = p["out1"] + p["out1_x6"] * x[6] + p["out1_x8"] * x[8] + p["out1_x10"] * x[10]
        u1 += p["out1_x11"] * x[11] + p["out1_x23"] * x[23] + p["out1_x27"] * x[27]
        u1 += p["out1_x36"] * x[36] + p["out1_x42"] * x[42] + p["out1_x46"] * x[46]
        u1 += p["out1_x48"] * x[48] + p["out1_x56"] * x[56] + p["out1_x72"] * x[72]
        u1 += p["out1_x73"] * x[73] + p["out1_x74"] * x[74] + p["out1_x75"] * x[75]
        u1 += p["out1_x78"] * x[78] + p["out1_x81"] * x[81] + p["out1_x87"] * x[87]
        u1 += p["out1_x96"] * x[96] + p["out1_x97"] * x[97]
        u2 = p["out2"] + p["out2_x6"] * x[6] + p["out2_x8"] * x[8] + p["out2_x10"] * x[10]
        u2 += p["out2_x11"] * x[11] + p["out2_x23"] * x[23] + p["out2_x27"] * x[27]
        u2 += p["out2_x36"] * x[36] + p["out2_x42"] * x[42] + p["out2_x46"] * x[46]
        u2 += p["out2_x48"] * x[48] + p["out2_x56"] * x[56] + p["out2_x72"] * x[72]
        u2 += p["out2_x73"] * x[73] + p["out2_x74"] * x[74] + p["out2_x75"] * x[75]
        u2 += p["out2_x78"] * x[78] + p["out2_x81"] * x[81] + p["out2_x87"] * x[87]
        u2 += p["out2_x96"] * x[96] + p["out2_x97"] * x[97]
        u3 = p["out3"] + p["out3_x6"] * x[6] + p["out3_x8"] * x[8] + p["out3_x10"] * x[10]
        u3 += p["out3_x11"] * x[11] + p["out3_x23"] * x[23] + p["out3_x27"] * x[27]
        u3 += p["out3_x36"] * x[36] + p["out3_x42"] * x[42] + p["out3_x46"] * x[46]
        u3 += p["out3_x48"] * x[48] + p["out3_x56"] * x[56] + p["out3_x72"] * x[72]
        u3 += p["out3_x73"] * x[73] + p["out3_x74"] * x[74] + p["out3_x75"] * x[75]
        u3 += p["out3_x78"] * x[78] + p["out3_x81"] * x[81] + p["out3_x87"] * x[87]
        u3 += p["out3_x96"] * x[96] + p["out3_x97"] * x[97]
        u4 = p["out4"] + p["out4_x6"] * x[6] + p["out4_x8"] * x[8] + p["out4_x10"] * x[10]
        u4 += p["out4_x11"] * x[11] + p["out4_x23"] * x[23] + p["out4_x27"] * x[27]
        u4 += p["out4_x36"] * x[36] + p["out4_x42"] * x[42] + p["out4_x46"] * x[46]
        u4 += p["out4_x48"] * x[48] + p["out4_x56"] * x[56] + p["out4_x72"] * x[72]
        u4 += p["out4_x73"] * x[73] + p["out4_x74"] * x[74] + p["out4_x75"] * x[75]
        u4 += p["out4_x78"] * x[78] + p["out4_x81"] * x[81] + p["out4_x87"] * x[87]
        u4 += p["out4_x96"] * x[96] + p["out4_x97"] * x[97]
        u5 = p["out5"] + p["out5_x6"] * x[6] + p["out5_x8"] * x[8] + p["out5_x10"] * x[10]
        u5 += p["out5_x11"] * x[11] + p["out5_x23"] * x[23] + p["out5_x27"] * x[27]
        u5 += p["out5_x36"] * x[36] + p["out5_x42"] * x[42] + p["out5_x46"] * x[46]
        u5 += p["out5_x48"] * x[48] + p["out5_x56"] * x[56] + p["out5_x72"] * x[72]
        u5 += p["out5_x73"] * x[73] + p["out5_x74"] * x[74] + p["out5_x75"] * x[75]
        u5 += p["out5_x78"] * x[78] + p["out5_x81"] * x[81] + p["out5_x87"] * x[87]
        u5 += p["out5_x96"] * x[96] + p["out5_x97"] * x[97]
        u6 = p["out6"] + p["out6_x6"] * x[6] + p["out6_x8"] * x[8] + p["out6_x10"] * x[10]
        u6 += p["out6_x11"] * x[11] + p["out6_x23"] * x[23] + p["out6_x27"] * x[27]
        u6 += p["out6_x36"] * x[36] + p["out6_x42"] * x[42] + p["out6_x46"] * x[46]
        u6 += p["out6_x48"] * x[48] + p["out6_x56"] * x[56] + p["out6_x72"] * x[72]
        u6 += p["out6_x73"] * x[73] + p["out6_x74"] * x[74] + p["out6_x75"] * x[75]
        u6 += p["out6_x78"] * x[78] + p["out6_x81"] * x[81] + p["out6_x87"] * x[87]
        u6 += p["out6_x96"] * x[96] + p["out6_x97"] * x[97]
        u7 = p["out7"] + p["out7_x6"] * x[6] + p["out7_x8"] * x[8] + p["out7_x10"] * x[10]
        u7 += p["out7_x11"] * x[11] + p["out7_x23"] * x[23] + p["out7_x27"] * x[27]
        u7 += p["out7_x36"] * x[36] + p["out7_x42"] * x[42] + p["out7_x46"] * x[46]
        u7 += p["out7_x48"] * x[48] + p["out7_x56"] * x[56] + p["out7_x72"] * x[72]
        u7 += p["out7_x73"] * x[73] + p["out7_x74"] * x[74] + p["out7_x75"] * x[75]
        u7 += p["out7_x78"] * x[78] + p["out7_x81"] * x[81] + p["out7_x87"] * x[87]
        u7 += p["out7_x96"] * x[96] + p["out7_x97"] * x[97]
        u = [u0, u1, u2, u3, u4, u5, u6, u7]
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
    parser.add_argument("--env", default='Ant-v5', help="environment id")
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
