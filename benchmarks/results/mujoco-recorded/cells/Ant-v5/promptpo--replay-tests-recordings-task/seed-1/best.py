"""Policy for Ant-v5, written by replay:Ant-v5.

Held-out mean return 2187.63 (95 % interval 2175.69 to 2200.26; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c1t of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    "freq": (1.8067, 0.5, 4.0),
    "duty_shift": (-0.30539, -1.0, 1.0),
    # hips
    "hip_amp_f": (0.385451, 0.0, 0.6),
    "hip_amp_b": (0.458161, 0.0, 0.6),
    "hip_off_f": (0.102856, -0.4, 0.4),
    "hip_off_b": (-0.167948, -0.4, 0.4),
    # ankles (magnitude of the ankle angle, 0.52 .. 1.22 rad)
    "ank_off_f": (0.897665, 0.5, 1.25),
    "ank_off_b": (1.12915, 0.5, 1.25),
    "ank_amp_f": (0.334834, 0.0, 0.5),
    "ank_amp_b": (0.34831, 0.0, 0.5),
    "ank_ph_f": (0.170132, -3.1416, 3.1416),
    "ank_ph_b": (1.30557, -3.1416, 3.1416),
    # relative phases of the legs
    "ph_1": (-0.194553, -3.1416, 3.1416),
    "ph_2": (2.66368, 0.0, 6.2832),
    "ph_3": (-0.881529, -3.1416, 3.1416),
    "ph_4": (3.01762, 0.0, 6.2832),
    # PD
    "kp_hip": (0.828147, 0.1, 4.0),
    "kp_ank": (0.589204, 0.1, 4.0),
    "kd_hip": (0.114027, 0.0, 0.3),
    "kd_ank": (0.0412998, 0.0, 0.3),
    "u_max": (0.556421, 0.1, 1.0),
    # heading
    "k_yaw": (0.81392, -1.5, 1.5),
    "k_wz": (-0.147492, -0.5, 0.5),
    "k_vy": (-0.187724, -0.5, 0.5),
    # attitude
    "k_roll": (0.919327, -1.0, 1.0),
    "k_pitch": (0.399674, -1.0, 1.0),
}

DT = 0.05
# direction of the hip angle that sweeps the foot towards -x, legs 1..4
SWEEP = [1.0, 1.0, -1.0, -1.0]
# sign of the ankle angle that presses the foot down, legs 1..4
DOWN = [1.0, -1.0, -1.0, 1.0]
FRONT = [True, False, False, True]
LEFT = [True, True, False, False]
# action index of (hip, ankle) of legs 1..4
ACT = [(2, 3), (4, 5), (6, 7), (0, 1)]


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.phi = 0.0

    def act(self, obs):
        p = self.p
        o = np.asarray(obs, dtype=float)
        w, x, y, z = o[1:5]
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
        pitch = math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
        q = o[5:13]
        vy, wz = o[14], o[18]
        qd = o[19:27]

        steer = p["k_yaw"] * yaw + p["k_wz"] * wz + p["k_vy"] * vy
        u = np.zeros(8)
        for i in range(4):
            f = "f" if FRONT[i] else "b"
            s = self.phi + p["ph_%d" % (i + 1)]
            # yaw > 0 (turned left): longer strides on the left side
            scale = 1.0 + (steer if LEFT[i] else -steer)
            scale = max(0.0, min(2.0, scale))
            sweep = p["hip_off_" + f] + p["hip_amp_" + f] * scale * math.sin(s)
            hip_t = SWEEP[i] * sweep
            press = p["ank_off_" + f] + p["ank_amp_" + f] * math.sin(s + p["ank_ph_" + f])
            press += p["k_roll"] * roll * (-1.0 if LEFT[i] else 1.0)
            press += p["k_pitch"] * pitch * (1.0 if FRONT[i] else -1.0)
            ank_t = DOWN[i] * press
            h, a = 2 * i, 2 * i + 1
            ih, ia = ACT[i]
            u[ih] = p["kp_hip"] * (hip_t - q[h]) - p["kd_hip"] * qd[h]
            u[ia] = p["kp_ank"] * (ank_t - q[a]) - p["kd_ank"] * qd[a]

        adv = 2.0 * math.pi * p["freq"] * DT
        self.phi += adv * (1.0 + 0.5 * p["duty_shift"] * math.sin(self.phi))
        self.phi %= 2.0 * math.pi
        return np.clip(u, -p["u_max"], p["u_max"]).astype(np.float32)


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
