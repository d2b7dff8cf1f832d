"""Policy for Humanoid-v5, written by program search (no language model).

Held-out mean return 514.198 (95 % interval 482.826 to 551.703; 20 episodes, seeds 20000000 to 20000019).
Candidate r2c1t of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

One clock drives all actuators: each follows a sine of its own offset, amplitude and phase,
corrected by a few of the observation's numbers.

Written by program search, without a language model.
Structure: wave
"""
import math

import numpy as np

PARAMS = {
    "frequency": (0.0386524, 0.0191087, 0.0740078),
    "shift0": (-2.17958, -4.50459, -1.36299),
    "offset0": (-0.0473803, -0.632013, 0.367987),
    "amplitude0": (0.683595, 0.21923, 0.96923),
    "correct0_x132": (0.294116, -0.476313, 0.523687),
    "correct0_x309": (0.121631, -0.530805, 0.469195),
    "correct0_x152": (0.241003, -0.219817, 0.780183),
    "shift1": (0.485113, -1.97617, 1.16543),
    "offset1": (0.267832, 0.03728, 1.03728),
    "amplitude1": (0.339872, -0.156935, 0.593065),
    "correct1_x132": (-0.435312, -0.85562, 0.14438),
    "correct1_x309": (0.179397, -0.501468, 0.498532),
    "correct1_x152": (0.270035, -0.420796, 0.579204),
    "shift2": (-1.56798, -3.8135, -0.6719),
    "offset2": (-0.53308, -1.02143, -0.021428),
    "amplitude2": (0.848046, 0.564934, 1.31493),
    "correct2_x132": (-0.00888625, -0.478765, 0.521235),
    "correct2_x309": (-0.343338, -0.652036, 0.347964),
    "correct2_x152": (-0.968413, -1.34359, -0.343587),
    "shift3": (1.81964, -0.871341, 2.27026),
    "offset3": (-0.0802388, -0.569949, 0.430051),
    "amplitude3": (0.365854, 0.030755, 0.780755),
    "correct3_x132": (0.0132531, -0.569919, 0.430081),
    "correct3_x309": (0.104783, -0.331, 0.669),
    "correct3_x152": (0.167922, -0.578594, 0.421406),
    "shift4": (0.625268, -0.55106, 2.59054),
    "offset4": (0.0767009, -0.758015, 0.241985),
    "amplitude4": (0.678043, 0.28251, 1.03251),
    "correct4_x132": (-0.40126, -0.638892, 0.361108),
    "correct4_x309": (-0.21271, -0.559118, 0.440882),
    "correct4_x152": (0.701922, 0.239463, 1.23946),
    "shift5": (1.55959, -0.41248, 2.72912),
    "offset5": (1.03517, 0.315821, 1.31582),
    "amplitude5": (0.528947, 0.186548, 0.936548),
    "correct5_x132": (-0.468915, -0.864776, 0.135224),
    "correct5_x309": (-0.298226, -0.757905, 0.242095),
    "correct5_x152": (0.0766361, -0.277838, 0.722162),
    "shift6": (1.85486, -0.44146, 2.70014),
    "offset6": (1.62649, -0.013869, 1.98613),
    "amplitude6": (-0.134989, -0.749214, 0.750786),
    "correct6_x132": (-0.679704, -1.29084, -0.290841),
    "correct6_x309": (0.0278753, -0.382523, 0.617477),
    "correct6_x152": (-0.21614, -0.819752, 0.180248),
    "shift7": (0.346253, -1.12727, 2.01433),
    "offset7": (-0.23824, -0.625954, 0.374046),
    "amplitude7": (0.691817, 0.406212, 1.15621),
    "correct7_x132": (-0.219928, -0.692286, 0.307714),
    "correct7_x309": (-0.294976, -0.750334, 0.249666),
    "correct7_x152": (0.00618218, -0.329775, 0.670225),
    "shift8": (1.71446, -0.26577, 2.87583),
    "offset8": (0.453999, -0.198219, 0.801781),
    "amplitude8": (0.217682, -0.04449, 0.70551),
    "correct8_x132": (0.295602, -0.272212, 0.727788),
    "correct8_x309": (0.223914, -0.185404, 0.814596),
    "correct8_x152": (0.088949, -0.462651, 0.537349),
    "shift9": (0.337114, -0.42741, 2.71419),
    "offset9": (0.643034, 0.197055, 1.19705),
    "amplitude9": (0.321796, -0.008528, 0.741472),
    "correct9_x132": (-0.0372087, -0.557332, 0.442668),
    "correct9_x309": (-0.539725, -1.0068, -0.006803),
    "correct9_x152": (-0.321206, -0.829313, 0.170687),
    "shift10": (-0.161677, -1.70008, 1.44152),
    "offset10": (0.247847, -0.230005, 0.769995),
    "amplitude10": (0.755812, 0.189809, 0.939809),
    "correct10_x132": (-0.09917, -0.658347, 0.341653),
    "correct10_x309": (0.0126245, -0.644194, 0.355806),
    "correct10_x152": (-0.309639, -0.811013, 0.188987),
    "shift11": (0.951901, -0.66856, 2.47304),
    "offset11": (-0.0875365, -0.803086, 0.196914),
    "amplitude11": (0.230045, -0.068131, 0.681869),
    "correct11_x132": (0.223837, -0.216515, 0.783485),
    "correct11_x309": (0.148145, -0.344906, 0.655094),
    "correct11_x152": (0.54432, 0.238541, 1.23854),
    "shift12": (1.4013, -0.759527, 2.38207),
    "offset12": (-0.276592, -0.875521, 0.124479),
    "amplitude12": (0.417828, -0.039418, 0.710582),
    "correct12_x132": (-0.179188, -0.670391, 0.329609),
    "correct12_x309": (-0.144748, -0.589247, 0.410753),
    "correct12_x152": (-0.308664, -0.778463, 0.221537),
    "shift13": (2.60535, 0.5995, 3.7411),
    "offset13": (-0.0617821, -0.716465, 0.283535),
    "amplitude13": (1.12831, 0.572867, 1.32287),
    "correct13_x132": (-0.0588869, -0.331692, 0.668308),
    "correct13_x309": (-0.389727, -0.780135, 0.219865),
    "correct13_x152": (-0.206131, -0.676176, 0.323824),
    "shift14": (1.50466, -0.48244, 2.65916),
    "offset14": (-0.354935, -0.649889, 0.350111),
    "amplitude14": (0.507755, 0.149676, 0.899676),
    "correct14_x132": (-0.0356654, -0.680506, 0.319494),
    "correct14_x309": (-0.868093, -1.06098, -0.060975),
    "correct14_x152": (0.147656, -0.448976, 0.551024),
    "shift15": (-0.209969, -1.8896, 1.252),
    "offset15": (0.148965, -0.191476, 0.808524),
    "amplitude15": (0.480536, 0.137893, 0.887893),
    "correct15_x132": (0.0453365, -0.492286, 0.507714),
    "correct15_x309": (0.299938, -0.410361, 0.589639),
    "correct15_x152": (0.0785637, -0.621052, 0.378948),
    "shift16": (0.334848, -1.517, 1.6246),
    "offset16": (-0.163015, -0.491356, 0.508644),
    "amplitude16": (0.00440027, -0.226983, 0.523017),
    "correct16_x132": (0.266633, -0.251691, 0.748309),
    "correct16_x309": (-0.209622, -0.78791, 0.21209),
    "correct16_x152": (-0.313811, -0.552867, 0.447133),
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
        u0 = p["offset0"] + p["amplitude0"] * math.sin(self.phase + p["shift0"])
        u0 += p["correct0_x132"] * x[132] + p["correct0_x309"] * x[309]
        u0 += p["correct0_x152"] * x[152]
        u1 = p["offset1"] + p["amplitude1"] * math.sin(self.phase + p["shift1"])
        u1 += p["correct1_x132"] * x[132] + p["correct1_x309"] * x[309]
        u1 += p["correct1_x152"] * x[152]
        u2 = p["offset2"] + p["amplitude2"] * math.sin(self.phase + p["shift2"])
        u2 += p["correct2_x132"] * x[132] + p["correct2_x309"] * x[309]
        u2 += p["correct2_x152"] * x[152]
        u3 = p["offset3"] + p["amplitude3"] * math.sin(self.phase + p["shift3"])
        u3 += p["correct3_x132"] * x[132] + p["correct3_x309"] * x[309]
        u3 += p["correct3_x152"] * x[152]
        u4 = p["offset4"] + p["amplitude4"] * math.sin(self.phase + p["shift4"])
        u4 += p["correct4_x132"] * x[132] + p["correct4_x309"] * x[309]
        u4 += p["correct4_x152"] * x[152]
        u5 = p["offset5"] + p["amplitude5"] * math.sin(self.phase + p["shift5"])
        u5 += p["correct5_x132"] * x[132] + p["correct5_x309"] * x[309]
        u5 += p["correct5_x152"] * x[152]
        u6 = p["offset6"] + p["amplitude6"] * math.sin(self.phase + p["shift6"])
        u6 += p["correct6_x132"] * x[132] + p["correct6_x309"] * x[309]
        u6 += p["correct6_x152"] * x[152]
        u7 = p["offset7"] + p["amplitude7"] * math.sin(self.phase + p["shift7"])
        u7 += p["correct7_x132"] * x[132] + p["correct7_x309"] * x[309]
        u7 += p["correct7_x152"] * x[152]
        u8 = p["offset8"] + p["amplitude8"] * math.sin(self.phase + p["shift8"])
        u8 += p["correct8_x132"] * x[132] + p["correct8_x309"] * x[309]
        u8 += p["correct8_x152"] * x[152]
        u9 = p["offset9"] + p["amplitude9"] * math.sin(self.phase + p["shift9"])
        u9 += p["correct9_x132"] * x[132] + p["correct9_x309"] * x[309]
        u9 += p["correct9_x152"] * x[152]
        u10 = p["offset10"] + p["amplitude10"] * math.sin(self.phase + p["shift10"])
        u10 += p["correct10_x132"] * x[132] + p["correct10_x309"] * x[309]
        u10 += p["correct10_x152"] * x[152]
        u11 = p["offset11"] + p["amplitude11"] * math.sin(self.phase + p["shift11"])
        u11 += p["correct11_x132"] * x[132] + p["correct11_x309"] * x[309]
        u11 += p["correct11_x152"] * x[152]
        u12 = p["offset12"] + p["amplitude12"] * math.sin(self.phase + p["shift12"])
        u12 += p["correct12_x132"] * x[132] + p["correct12_x309"] * x[309]
        u12 += p["correct12_x152"] * x[152]
        u13 = p["offset13"] + p["amplitude13"] * math.sin(self.phase + p["shift13"])
        u13 += p["correct13_x132"] * x[132] + p["correct13_x309"] * x[309]
        u13 += p["correct13_x152"] * x[152]
        u14 = p["offset14"] + p["amplitude14"] * math.sin(self.phase + p["shift14"])
        u14 += p["correct14_x132"] * x[132] + p["correct14_x309"] * x[309]
        u14 += p["correct14_x152"] * x[152]
        u15 = p["offset15"] + p["amplitude15"] * math.sin(self.phase + p["shift15"])
        u15 += p["correct15_x132"] * x[132] + p["correct15_x309"] * x[309]
        u15 += p["correct15_x152"] * x[152]
        u16 = p["offset16"] + p["amplitude16"] * math.sin(self.phase + p["shift16"])
        u16 += p["correct16_x132"] * x[132] + p["correct16_x309"] * x[309]
        u16 += p["correct16_x152"] * x[152]
        u = [u0, u1, u2, u3, u4, u5, u6, u7, u8, u9, u10, u11, u12, u13, u14, u15, u16]
        return np.array([0.4 * clip(u[0]), 0.4 * clip(u[1]), 0.4 * clip(u[2]), 0.4 * clip(u[3]), 0.4 * clip(u[4]), 0.4 * clip(u[5]), 0.4 * clip(u[6]), 0.4 * clip(u[7]), 0.4 * clip(u[8]), 0.4 * clip(u[9]), 0.4 * clip(u[10]), 0.4 * clip(u[11]), 0.4 * clip(u[12]), 0.4 * clip(u[13]), 0.4 * clip(u[14]), 0.4 * clip(u[15]), 0.4 * clip(u[16])], dtype=np.float32)


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

    return np.clip(np.asarray(action, dtype=np.float32), np.float32(-0.4000000059604645), np.float32(0.4000000059604645))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='Humanoid-v5', help="environment id")
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
