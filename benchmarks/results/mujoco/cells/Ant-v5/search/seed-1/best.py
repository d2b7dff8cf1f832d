"""Policy for Ant-v5, written by program search (no language model).

Held-out mean return 994.733 (95 % interval 993.146 to 996.282; 20 episodes, seeds 20000000 to 20000019).
Candidate r2c4 of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Four soft switches look at the observation, and the outputs weigh the switches.

Written by program search, without a language model.
Structure: neurons
"""
import math

import numpy as np

PARAMS = {
    "h0": (0.0, -2.0, 2.0),
    "h0_x2": (0.0, -2.0, 2.0),
    "h0_x14": (0.0, -2.0, 2.0),
    "h0_x18": (0.0, -2.0, 2.0),
    "h0_x33": (0.0, -2.0, 2.0),
    "h0_x34": (0.0, -2.0, 2.0),
    "h0_x39": (0.0, -2.0, 2.0),
    "h0_x44": (0.0, -2.0, 2.0),
    "h0_x48": (0.0, -2.0, 2.0),
    "h0_x56": (0.0, -2.0, 2.0),
    "h0_x57": (0.0, -2.0, 2.0),
    "h0_x60": (0.0, -2.0, 2.0),
    "h0_x61": (0.0, -2.0, 2.0),
    "h0_x64": (0.0, -2.0, 2.0),
    "h0_x70": (0.0, -2.0, 2.0),
    "h0_x71": (0.0, -2.0, 2.0),
    "h0_x72": (0.0, -2.0, 2.0),
    "h0_x81": (0.0, -2.0, 2.0),
    "h0_x86": (0.0, -2.0, 2.0),
    "h0_x87": (0.0, -2.0, 2.0),
    "h0_x91": (0.0, -2.0, 2.0),
    "h1": (0.0, -2.0, 2.0),
    "h1_x2": (0.0, -2.0, 2.0),
    "h1_x14": (0.0, -2.0, 2.0),
    "h1_x18": (0.0, -2.0, 2.0),
    "h1_x33": (0.0, -2.0, 2.0),
    "h1_x34": (0.0, -2.0, 2.0),
    "h1_x39": (0.0, -2.0, 2.0),
    "h1_x44": (0.0, -2.0, 2.0),
    "h1_x48": (0.0, -2.0, 2.0),
    "h1_x56": (0.0, -2.0, 2.0),
    "h1_x57": (0.0, -2.0, 2.0),
    "h1_x60": (0.0, -2.0, 2.0),
    "h1_x61": (0.0, -2.0, 2.0),
    "h1_x64": (0.0, -2.0, 2.0),
    "h1_x70": (0.0, -2.0, 2.0),
    "h1_x71": (0.0, -2.0, 2.0),
    "h1_x72": (0.0, -2.0, 2.0),
    "h1_x81": (0.0, -2.0, 2.0),
    "h1_x86": (0.0, -2.0, 2.0),
    "h1_x87": (0.0, -2.0, 2.0),
    "h1_x91": (0.0, -2.0, 2.0),
    "h2": (0.0, -2.0, 2.0),
    "h2_x2": (0.0, -2.0, 2.0),
    "h2_x14": (0.0, -2.0, 2.0),
    "h2_x18": (0.0, -2.0, 2.0),
    "h2_x33": (0.0, -2.0, 2.0),
    "h2_x34": (0.0, -2.0, 2.0),
    "h2_x39": (0.0, -2.0, 2.0),
    "h2_x44": (0.0, -2.0, 2.0),
    "h2_x48": (0.0, -2.0, 2.0),
    "h2_x56": (0.0, -2.0, 2.0),
    "h2_x57": (0.0, -2.0, 2.0),
    "h2_x60": (0.0, -2.0, 2.0),
    "h2_x61": (0.0, -2.0, 2.0),
    "h2_x64": (0.0, -2.0, 2.0),
    "h2_x70": (0.0, -2.0, 2.0),
    "h2_x71": (0.0, -2.0, 2.0),
    "h2_x72": (0.0, -2.0, 2.0),
    "h2_x81": (0.0, -2.0, 2.0),
    "h2_x86": (0.0, -2.0, 2.0),
    "h2_x87": (0.0, -2.0, 2.0),
    "h2_x91": (0.0, -2.0, 2.0),
    "h3": (0.0, -2.0, 2.0),
    "h3_x2": (0.0, -2.0, 2.0),
    "h3_x14": (0.0, -2.0, 2.0),
    "h3_x18": (0.0, -2.0, 2.0),
    "h3_x33": (0.0, -2.0, 2.0),
    "h3_x34": (0.0, -2.0, 2.0),
    "h3_x39": (0.0, -2.0, 2.0),
    "h3_x44": (0.0, -2.0, 2.0),
    "h3_x48": (0.0, -2.0, 2.0),
    "h3_x56": (0.0, -2.0, 2.0),
    "h3_x57": (0.0, -2.0, 2.0),
    "h3_x60": (0.0, -2.0, 2.0),
    "h3_x61": (0.0, -2.0, 2.0),
    "h3_x64": (0.0, -2.0, 2.0),
    "h3_x70": (0.0, -2.0, 2.0),
    "h3_x71": (0.0, -2.0, 2.0),
    "h3_x72": (0.0, -2.0, 2.0),
    "h3_x81": (0.0, -2.0, 2.0),
    "h3_x86": (0.0, -2.0, 2.0),
    "h3_x87": (0.0, -2.0, 2.0),
    "h3_x91": (0.0, -2.0, 2.0),
    "out0": (0.0, -2.0, 2.0),
    "out0_h0": (0.0, -2.0, 2.0),
    "out0_h1": (0.0, -2.0, 2.0),
    "out0_h2": (0.0, -2.0, 2.0),
    "out0_h3": (0.0, -2.0, 2.0),
    "out1": (0.0, -2.0, 2.0),
    "out1_h0": (0.0, -2.0, 2.0),
    "out1_h1": (0.0, -2.0, 2.0),
    "out1_h2": (0.0, -2.0, 2.0),
    "out1_h3": (0.0, -2.0, 2.0),
    "out2": (0.0, -2.0, 2.0),
    "out2_h0": (0.0, -2.0, 2.0),
    "out2_h1": (0.0, -2.0, 2.0),
    "out2_h2": (0.0, -2.0, 2.0),
    "out2_h3": (0.0, -2.0, 2.0),
    "out3": (0.0, -2.0, 2.0),
    "out3_h0": (0.0, -2.0, 2.0),
    "out3_h1": (0.0, -2.0, 2.0),
    "out3_h2": (0.0, -2.0, 2.0),
    "out3_h3": (0.0, -2.0, 2.0),
    "out4": (0.0, -2.0, 2.0),
    "out4_h0": (0.0, -2.0, 2.0),
    "out4_h1": (0.0, -2.0, 2.0),
    "out4_h2": (0.0, -2.0, 2.0),
    "out4_h3": (0.0, -2.0, 2.0),
    "out5": (0.0, -2.0, 2.0),
    "out5_h0": (0.0, -2.0, 2.0),
    "out5_h1": (0.0, -2.0, 2.0),
    "out5_h2": (0.0, -2.0, 2.0),
    "out5_h3": (0.0, -2.0, 2.0),
    "out6": (0.0, -2.0, 2.0),
    "out6_h0": (0.0, -2.0, 2.0),
    "out6_h1": (0.0, -2.0, 2.0),
    "out6_h2": (0.0, -2.0, 2.0),
    "out6_h3": (0.0, -2.0, 2.0),
    "out7": (0.0, -2.0, 2.0),
    "out7_h0": (0.0, -2.0, 2.0),
    "out7_h1": (0.0, -2.0, 2.0),
    "out7_h2": (0.0, -2.0, 2.0),
    "out7_h3": (0.0, -2.0, 2.0),
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
        drive = p["h0"] + p["h0_x2"] * x[2] + p["h0_x14"] * x[14] + p["h0_x18"] * x[18]
        drive += p["h0_x33"] * x[33] + p["h0_x34"] * x[34] + p["h0_x39"] * x[39]
        drive += p["h0_x44"] * x[44] + p["h0_x48"] * x[48] + p["h0_x56"] * x[56]
        drive += p["h0_x57"] * x[57] + p["h0_x60"] * x[60] + p["h0_x61"] * x[61]
        drive += p["h0_x64"] * x[64] + p["h0_x70"] * x[70] + p["h0_x71"] * x[71]
        drive += p["h0_x72"] * x[72] + p["h0_x81"] * x[81] + p["h0_x86"] * x[86]
        drive += p["h0_x87"] * x[87] + p["h0_x91"] * x[91]
        h0 = math.tanh(drive)
        drive = p["h1"] + p["h1_x2"] * x[2] + p["h1_x14"] * x[14] + p["h1_x18"] * x[18]
        drive += p["h1_x33"] * x[33] + p["h1_x34"] * x[34] + p["h1_x39"] * x[39]
        drive += p["h1_x44"] * x[44] + p["h1_x48"] * x[48] + p["h1_x56"] * x[56]
        drive += p["h1_x57"] * x[57] + p["h1_x60"] * x[60] + p["h1_x61"] * x[61]
        drive += p["h1_x64"] * x[64] + p["h1_x70"] * x[70] + p["h1_x71"] * x[71]
        drive += p["h1_x72"] * x[72] + p["h1_x81"] * x[81] + p["h1_x86"] * x[86]
        drive += p["h1_x87"] * x[87] + p["h1_x91"] * x[91]
        h1 = math.tanh(drive)
        drive = p["h2"] + p["h2_x2"] * x[2] + p["h2_x14"] * x[14] + p["h2_x18"] * x[18]
        drive += p["h2_x33"] * x[33] + p["h2_x34"] * x[34] + p["h2_x39"] * x[39]
        drive += p["h2_x44"] * x[44] + p["h2_x48"] * x[48] + p["h2_x56"] * x[56]
        drive += p["h2_x57"] * x[57] + p["h2_x60"] * x[60] + p["h2_x61"] * x[61]
        drive += p["h2_x64"] * x[64] + p["h2_x70"] * x[70] + p["h2_x71"] * x[71]
        drive += p["h2_x72"] * x[72] + p["h2_x81"] * x[81] + p["h2_x86"] * x[86]
        drive += p["h2_x87"] * x[87] + p["h2_x91"] * x[91]
        h2 = math.tanh(drive)
        drive = p["h3"] + p["h3_x2"] * x[2] + p["h3_x14"] * x[14] + p["h3_x18"] * x[18]
        drive += p["h3_x33"] * x[33] + p["h3_x34"] * x[34] + p["h3_x39"] * x[39]
        drive += p["h3_x44"] * x[44] + p["h3_x48"] * x[48] + p["h3_x56"] * x[56]
        drive += p["h3_x57"] * x[57] + p["h3_x60"] * x[60] + p["h3_x61"] * x[61]
        drive += p["h3_x64"] * x[64] + p["h3_x70"] * x[70] + p["h3_x71"] * x[71]
        drive += p["h3_x72"] * x[72] + p["h3_x81"] * x[81] + p["h3_x86"] * x[86]
        drive += p["h3_x87"] * x[87] + p["h3_x91"] * x[91]
        h3 = math.tanh(drive)
        u0 = p["out0"] + p["out0_h0"] * h0 + p["out0_h1"] * h1 + p["out0_h2"] * h2
        u0 += p["out0_h3"] * h3
        u1 = p["out1"] + p["out1_h0"] * h0 + p["out1_h1"] * h1 + p["out1_h2"] * h2
        u1 += p["out1_h3"] * h3
        u2 = p["out2"] + p["out2_h0"] * h0 + p["out2_h1"] * h1 + p["out2_h2"] * h2
        u2 += p["out2_h3"] * h3
        u3 = p["out3"] + p["out3_h0"] * h0 + p["out3_h1"] * h1 + p["out3_h2"] * h2
        u3 += p["out3_h3"] * h3
        u4 = p["out4"] + p["out4_h0"] * h0 + p["out4_h1"] * h1 + p["out4_h2"] * h2
        u4 += p["out4_h3"] * h3
        u5 = p["out5"] + p["out5_h0"] * h0 + p["out5_h1"] * h1 + p["out5_h2"] * h2
        u5 += p["out5_h3"] * h3
        u6 = p["out6"] + p["out6_h0"] * h0 + p["out6_h1"] * h1 + p["out6_h2"] * h2
        u6 += p["out6_h3"] * h3
        u7 = p["out7"] + p["out7_h0"] * h0 + p["out7_h1"] * h1 + p["out7_h2"] * h2
        u7 += p["out7_h3"] * h3
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
