"""Policy for Humanoid-v5, written by program search (no language model).

Held-out mean return 519.09 (95 % interval 484.663 to 558.62; 20 episodes, seeds 20000000 to 20000019).
Candidate r2c1t of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

One clock drives all actuators: each follows a sine of its own offset, amplitude and phase,
corrected by a few of the observation's numbers.

Written by program search, without a language model.
Structure: wave
"""
import math

import numpy as np

PARAMS = {
    "frequency": (0.108194, 0.0473729, 0.183474),
    "shift0": (-0.600495, -1.94054, 1.20105),
    "offset0": (-0.0498558, -0.505969, 0.494031),
    "amplitude0": (0.0812804, -0.172473, 0.577527),
    "correct0_x132": (0.549846, -0.162724, 0.837276),
    "correct0_x309": (-0.141675, -0.42998, 0.57002),
    "correct0_x152": (-0.239687, -0.818524, 0.181476),
    "shift1": (1.13336, -1.16574, 1.97586),
    "offset1": (-0.149525, -0.738944, 0.261056),
    "amplitude1": (0.401789, -0.00048, 0.74952),
    "correct1_x132": (0.173903, -0.619775, 0.380225),
    "correct1_x309": (-0.149897, -0.391521, 0.608479),
    "correct1_x152": (-0.281629, -0.517967, 0.482033),
    "shift2": (0.0632173, -1.70318, 1.43842),
    "offset2": (-0.142548, -0.589133, 0.410867),
    "amplitude2": (0.295222, 0.097017, 0.847017),
    "correct2_x132": (-0.53515, -1.09783, -0.097831),
    "correct2_x309": (-0.152486, -0.58371, 0.41629),
    "correct2_x152": (-0.17377, -0.664324, 0.335676),
    "shift3": (1.26679, -0.13894, 3.00266),
    "offset3": (-0.400325, -0.790835, 0.209165),
    "amplitude3": (0.489497, 0.107466, 0.857466),
    "correct3_x132": (-0.339524, -0.747101, 0.252899),
    "correct3_x309": (0.915278, 0.076887, 1.07689),
    "correct3_x152": (-0.0417247, -0.577622, 0.422378),
    "shift4": (0.717215, -1.28722, 1.85438),
    "offset4": (0.182403, -0.225365, 0.774635),
    "amplitude4": (0.493702, 0.372381, 1.12238),
    "correct4_x132": (0.00973647, -0.659638, 0.340362),
    "correct4_x309": (-0.416215, -0.974759, 0.025241),
    "correct4_x152": (-0.450143, -0.690748, 0.309252),
    "shift5": (0.796997, -0.46574, 2.67586),
    "offset5": (-0.313485, -0.55355, 0.44645),
    "amplitude5": (0.115241, -0.087063, 0.662937),
    "correct5_x132": (0.490531, -0.04207, 0.95793),
    "correct5_x309": (-0.251801, -0.659782, 0.340218),
    "correct5_x152": (0.140216, -0.197874, 0.802126),
    "shift6": (1.68361, -1.16548, 1.97612),
    "offset6": (0.0767394, -0.582677, 0.417323),
    "amplitude6": (-0.0293313, -0.319597, 0.430403),
    "correct6_x132": (1.10912, 0.110325, 1.11033),
    "correct6_x309": (-0.223617, -0.651335, 0.348665),
    "correct6_x152": (-0.237348, -0.790471, 0.209529),
    "shift7": (-1.06645, -2.3084, 0.833196),
    "offset7": (-0.452504, -0.865498, 0.134502),
    "amplitude7": (0.435281, 0.142904, 0.892904),
    "correct7_x132": (-0.0438613, -0.586685, 0.413315),
    "correct7_x309": (-0.133247, -0.598653, 0.401347),
    "correct7_x152": (-0.0312804, -0.479459, 0.520541),
    "shift8": (0.313245, -1.14166, 1.99994),
    "offset8": (0.211356, -0.330201, 0.669799),
    "amplitude8": (0.496737, 0.060894, 0.810894),
    "correct8_x132": (0.150354, -0.177472, 0.822528),
    "correct8_x309": (1.00288, 0.107644, 1.10764),
    "correct8_x152": (0.0933069, -0.481888, 0.518112),
    "shift9": (-1.02467, -2.31878, 0.822823),
    "offset9": (0.280007, -0.271933, 0.728067),
    "amplitude9": (0.312848, -0.0231, 0.7269),
    "correct9_x132": (0.118369, -0.357746, 0.642254),
    "correct9_x309": (0.317681, -0.100962, 0.899038),
    "correct9_x152": (0.229393, -0.077555, 0.922445),
    "shift10": (-0.825801, -1.77625, 1.36535),
    "offset10": (0.727306, -0.112876, 0.887124),
    "amplitude10": (0.291761, 0.051907, 0.801907),
    "correct10_x132": (0.499107, 0.083823, 1.08382),
    "correct10_x309": (0.0395972, -0.343234, 0.656766),
    "correct10_x152": (0.452892, -0.270731, 0.729269),
    "shift11": (-0.152534, -1.64532, 1.49628),
    "offset11": (-0.304476, -0.607726, 0.392274),
    "amplitude11": (0.784518, 0.335036, 1.08504),
    "correct11_x132": (-0.0992124, -0.646504, 0.353496),
    "correct11_x309": (0.41413, -0.34496, 0.65504),
    "correct11_x152": (0.141329, -0.442477, 0.557523),
    "shift12": (-0.426139, -2.15327, 0.988328),
    "offset12": (-0.0890768, -0.553764, 0.446236),
    "amplitude12": (0.364282, 0.104509, 0.854509),
    "correct12_x132": (-0.200635, -0.718205, 0.281795),
    "correct12_x309": (-0.193975, -0.481819, 0.518181),
    "correct12_x152": (0.163982, -0.452433, 0.547567),
    "shift13": (-0.47689, -2.06301, 1.07859),
    "offset13": (-0.417696, -0.742135, 0.257865),
    "amplitude13": (0.47715, 0.12899, 0.87899),
    "correct13_x132": (0.000459659, -0.655167, 0.344833),
    "correct13_x309": (0.0211048, -0.504074, 0.495926),
    "correct13_x152": (0.0440709, -0.510777, 0.489223),
    "shift14": (-0.137253, -1.41763, 1.72397),
    "offset14": (-0.277272, -0.527262, 0.472738),
    "amplitude14": (0.859457, 0.482438, 1.23244),
    "correct14_x132": (-0.19751, -0.584808, 0.415191),
    "correct14_x309": (-0.137392, -0.69213, 0.30787),
    "correct14_x152": (0.00650324, -0.566128, 0.433872),
    "shift15": (-0.647309, -2.68812, 0.45348),
    "offset15": (-0.0264256, -0.571114, 0.428886),
    "amplitude15": (0.497961, 0.145579, 0.895579),
    "correct15_x132": (0.147419, -0.455521, 0.544479),
    "correct15_x309": (-0.0494067, -0.481181, 0.518819),
    "correct15_x152": (0.107312, -0.316221, 0.683779),
    "shift16": (1.44499, -0.47482, 2.66678),
    "offset16": (0.0767219, -0.589423, 0.410577),
    "amplitude16": (0.516453, 0.331195, 1.0812),
    "correct16_x132": (-0.184174, -0.459278, 0.540722),
    "correct16_x309": (0.118702, -0.640579, 0.359421),
    "correct16_x152": (0.152043, -0.572199, 0.427801),
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
