"""Policy for Humanoid-v5, written by replay:Humanoid-v5.

Held-out mean return 497.933 (95 % interval 464.199 to 529.897; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c1t of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    # pose (rad)
    "abd_y": (-0.0533362, -0.6, 0.6),
    "hip_y": (0.0630962, -1.2, 0.3),
    "knee": (-0.102446, -1.6, -0.05),
    "hip_x": (0.0246747, -0.4, 0.2),
    "hip_z": (0.351088, -0.4, 0.4),
    "sh1": (0.465985, -1.0, 1.0),
    "sh2": (-0.637154, -1.0, 1.0),
    "elbow": (-0.834136, -1.5, 0.8),
    # PD gains (actions are limited to +-0.4)
    "kp_hip": (0.180418, 0.1, 5.0),
    "kd_hip": (0.0134976, 0.0, 0.6),
    "kp_knee": (0.932665, 0.1, 5.0),
    "kd_knee": (0.0827529, 0.0, 0.6),
    "kp_abd": (3.22931, 0.1, 5.0),
    "kd_abd": (0.0282799, 0.0, 0.6),
    "kp_arm": (0.0120864, 0.0, 2.0),
    "kd_arm": (0.0944815, 0.0, 0.3),
    # balance feedback, sagittal
    "pitch_ref": (0.165441, -0.3, 0.3),
    "bp_hip": (1.56689, -4.0, 4.0),
    "br_hip": (0.783459, -0.8, 0.8),
    "bv_hip": (-0.296498, -0.6, 0.6),
    "bp_abd": (0.813219, -3.0, 3.0),
    "br_abd": (0.17397, -0.6, 0.6),
    "bp_knee": (-1.01351, -3.0, 3.0),
    # balance feedback, frontal
    "bp_hx": (1.28064, -3.0, 3.0),
    "br_hx": (-0.00890602, -0.8, 0.8),
    "bv_hx": (-0.187263, -0.6, 0.6),
    "bp_ax": (2.9888, -3.0, 3.0),
    # stepping
    "freq": (1.73117, 0.5, 3.0),
    "st_hip": (0.672163, 0.0, 0.8),
    "st_knee": (0.0263596, 0.0, 1.0),
    "st_kph": (3.09557, -3.1416, 3.1416),
    "sway": (-0.167756, -0.3, 0.3),
    "sway_ph": (0.748784, -3.1416, 3.1416),
    "arm_sw": (0.334347, -0.5, 0.5),
    "ramp": (0.108335, 0.1, 4.0),
}

DT = 0.015


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.t = 0.0

    def act(self, obs):
        p = self.p
        o = np.asarray(obs[:45], dtype=float)
        w, x, y, z = o[1:5]
        roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
        vx, vy = o[22], o[23]
        rr, pr = o[25], o[26]
        q = o[5:22]  # joint positions (abdomen z, y, x, then limbs)
        d = o[28:45]  # joint velocities, same order

        s = 2 * math.pi * p["freq"] * self.t
        a = min(1.0, self.t / p["ramp"])
        self.t += DT

        e = pitch - p["pitch_ref"]
        hip_fb = p["bp_hip"] * e + p["br_hip"] * pr + p["bv_hip"] * vx
        lat_fb = p["bp_hx"] * roll + p["br_hx"] * rr - p["bv_hx"] * vy
        abd_fb = p["bp_abd"] * e + p["br_abd"] * pr
        sway = a * p["sway"] * math.sin(s + p["sway_ph"])

        # targets in the order of the joint list
        T = np.zeros(17)
        T[0] = 0.0  # abdomen z
        T[1] = p["abd_y"] + abd_fb  # abdomen y
        T[2] = p["bp_ax"] * roll  # abdomen x
        # right leg: hip_x, hip_z, hip_y, knee
        T[3] = p["hip_x"] + lat_fb + sway
        T[4] = p["hip_z"]
        T[5] = p["hip_y"] + hip_fb - a * p["st_hip"] * math.sin(s)
        T[6] = p["knee"] + p["bp_knee"] * e - a * p["st_knee"] * max(0.0, math.sin(s + p["st_kph"]))
        # left leg
        T[7] = p["hip_x"] - lat_fb - sway
        T[8] = p["hip_z"]
        T[9] = p["hip_y"] + hip_fb + a * p["st_hip"] * math.sin(s)
        T[10] = p["knee"] + p["bp_knee"] * e - a * p["st_knee"] * max(0.0, -math.sin(s + p["st_kph"]))
        # arms
        sw = a * p["arm_sw"] * math.sin(s)
        T[11], T[12], T[13] = p["sh1"] + sw, p["sh2"], p["elbow"]
        T[14], T[15], T[16] = -p["sh1"] + sw, -p["sh2"], p["elbow"]

        kp = np.array(
            [p["kp_abd"]] * 3
            + [p["kp_hip"]] * 3
            + [p["kp_knee"]]
            + [p["kp_hip"]] * 3
            + [p["kp_knee"]]
            + [p["kp_arm"]] * 6
        )
        kd = np.array(
            [p["kd_abd"]] * 3
            + [p["kd_hip"]] * 3
            + [p["kd_knee"]]
            + [p["kd_hip"]] * 3
            + [p["kd_knee"]]
            + [p["kd_arm"]] * 6
        )
        u = kp * (T - q) - kd * d
        # the actuator list starts with abdomen y, z, x
        u[0], u[1] = u[1], u[0]
        return np.clip(u, -0.4, 0.4).astype(np.float32)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    policy = Policy({name: value[0] for name, value in PARAMS.items()})
    policy.reset()
    return policy


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
