"""Policy for Humanoid-v5, written by program search (no language model).

Held-out mean return 525.807 (95 % interval 474.798 to 579.693; 20 episodes, seeds 20000000 to 20000019).
Candidate r2c1t of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

One clock drives all actuators: each follows a sine of its own offset, amplitude and phase,
corrected by a few of the observation's numbers.

Written by program search, without a language model.
Structure: wave
"""
import math

import numpy as np

PARAMS = {
    "frequency": (0.183291, 0.0766474, 1.14971),
    "shift0": (0.218177, -1.08539, 2.05621),
    "offset0": (0.230917, -0.164997, 0.835003),
    "amplitude0": (0.966568, 0.6268, 1.3768),
    "correct0_x132": (-0.495208, -0.933345, 0.066655),
    "correct0_x309": (-0.117093, -0.630574, 0.369426),
    "correct0_x152": (0.00959876, -0.432647, 0.567353),
    "shift1": (-0.0768865, -1.32253, 1.81907),
    "offset1": (-0.568746, -0.835113, 0.164887),
    "amplitude1": (0.594812, 0.176986, 0.926986),
    "correct1_x132": (-0.445557, -1.03321, -0.033215),
    "correct1_x309": (0.619063, 0.057016, 1.05702),
    "correct1_x152": (-0.242025, -0.560913, 0.439087),
    "shift2": (0.281895, -1.87161, 1.26999),
    "offset2": (0.554212, -0.204694, 0.795306),
    "amplitude2": (0.358697, -0.053033, 0.696967),
    "correct2_x132": (0.574015, 0.166529, 1.16653),
    "correct2_x309": (0.20861, -0.09343, 0.90657),
    "correct2_x152": (-0.901512, -1.29221, -0.292205),
    "shift3": (1.95441, -0.05386, 3.08774),
    "offset3": (-0.677675, -0.926174, 0.073826),
    "amplitude3": (0.465628, 0.098495, 0.848495),
    "correct3_x132": (-0.0602226, -0.408099, 0.591901),
    "correct3_x309": (0.154934, -0.290416, 0.709584),
    "correct3_x152": (-0.282655, -0.74725, 0.25275),
    "shift4": (-1.15442, -2.44548, 0.696121),
    "offset4": (0.499448, -0.238435, 0.761565),
    "amplitude4": (0.305785, -0.130428, 0.619572),
    "correct4_x132": (-0.0214148, -0.35946, 0.64054),
    "correct4_x309": (-0.461077, -0.727054, 0.272946),
    "correct4_x152": (-0.430279, -0.953501, 0.046499),
    "shift5": (0.722384, -0.911322, 2.23028),
    "offset5": (0.0265451, -0.417953, 0.582047),
    "amplitude5": (0.205759, 0.021604, 0.771604),
    "correct5_x132": (0.0536948, -0.66754, 0.33246),
    "correct5_x309": (0.0415636, -0.590516, 0.409484),
    "correct5_x152": (-0.873018, -1.04649, -0.046492),
    "shift6": (-0.706378, -1.45575, 1.68585),
    "offset6": (0.68908, 0.162452, 1.16245),
    "amplitude6": (0.00638682, -0.749536, 0.750464),
    "correct6_x132": (-0.205951, -0.574317, 0.425683),
    "correct6_x309": (-0.126207, -0.611542, 0.388458),
    "correct6_x152": (-0.329649, -0.705902, 0.294098),
    "shift7": (-0.744871, -2.73296, 0.40864),
    "offset7": (0.159432, -0.311428, 0.688572),
    "amplitude7": (0.608619, 0.360724, 1.11072),
    "correct7_x132": (0.109198, -0.491108, 0.508892),
    "correct7_x309": (0.346486, -0.426906, 0.573094),
    "correct7_x152": (-0.58456, -1.25111, -0.251115),
    "shift8": (0.292497, -1.47268, 1.66892),
    "offset8": (-0.197185, -0.488274, 0.511726),
    "amplitude8": (0.570162, 0.247254, 0.997254),
    "correct8_x132": (-0.0547661, -0.317313, 0.682687),
    "correct8_x309": (-0.432867, -0.758524, 0.241476),
    "correct8_x152": (-0.053881, -0.750942, 0.249058),
    "shift9": (0.3457, -1.3721, 1.7695),
    "offset9": (0.227907, -0.451581, 0.548419),
    "amplitude9": (0.0067601, -0.278329, 0.471671),
    "correct9_x132": (-0.0921305, -0.456879, 0.543121),
    "correct9_x309": (-0.12447, -0.844929, 0.155071),
    "correct9_x152": (1.10489, 0.353488, 1.35349),
    "shift10": (1.20065, -0.812936, 2.32866),
    "offset10": (0.410966, 0.05364, 1.05364),
    "amplitude10": (0.455254, 0.213947, 0.963947),
    "correct10_x132": (0.368353, -0.465905, 0.534095),
    "correct10_x309": (-0.180693, -0.411896, 0.588104),
    "correct10_x152": (0.0166965, -0.301307, 0.698693),
    "shift11": (-0.364622, -2.0427, 1.0989),
    "offset11": (0.140589, -0.325143, 0.674857),
    "amplitude11": (0.468137, -0.01474, 0.73526),
    "correct11_x132": (-0.886555, -1.24081, -0.240807),
    "correct11_x309": (0.226474, -0.435931, 0.564069),
    "correct11_x152": (0.344907, -0.122676, 0.877324),
    "shift12": (0.919454, -0.737945, 2.40366),
    "offset12": (-0.264754, -0.818422, 0.181578),
    "amplitude12": (0.319385, 0.073588, 0.823588),
    "correct12_x132": (-0.479282, -0.634698, 0.365302),
    "correct12_x309": (0.00259713, -0.493387, 0.506613),
    "correct12_x152": (-0.313024, -0.728804, 0.271196),
    "shift13": (0.871797, -0.40695, 2.73465),
    "offset13": (0.049555, -0.256778, 0.743222),
    "amplitude13": (0.884836, 0.463566, 1.21357),
    "correct13_x132": (-0.0817152, -0.910819, 0.089181),
    "correct13_x309": (0.0509441, -0.502666, 0.497334),
    "correct13_x152": (0.512252, -0.09019, 0.90981),
    "shift14": (-2.70498, -3.42317, -0.28157),
    "offset14": (-0.773972, -1.20457, -0.204567),
    "amplitude14": (0.380964, 0.061347, 0.811347),
    "correct14_x132": (0.31214, -0.154792, 0.845208),
    "correct14_x309": (-0.105979, -0.528166, 0.471834),
    "correct14_x152": (0.61339, 0.064375, 1.06438),
    "shift15": (-0.796913, -2.51561, 0.625985),
    "offset15": (0.115579, -0.313291, 0.686709),
    "amplitude15": (0.478214, 0.14509, 0.89509),
    "correct15_x132": (0.413437, -0.030672, 0.969328),
    "correct15_x309": (-0.312464, -0.874932, 0.125068),
    "correct15_x152": (-0.317912, -0.893039, 0.106961),
    "shift16": (-0.464782, -2.44567, 0.695934),
    "offset16": (0.0903412, -0.296587, 0.703413),
    "amplitude16": (0.517635, 0.210927, 0.960927),
    "correct16_x132": (-0.0666126, -0.419031, 0.580969),
    "correct16_x309": (0.468367, -0.094774, 0.905226),
    "correct16_x152": (-0.047041, -0.415093, 0.584907),
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
