"""Policy for Ant-v5, written by replay:Ant-v5.

Held-out mean return 2544.72 (95 % interval 2531.44 to 2556.47; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c2t of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    # timing in steps of 0.05 s
    "t_min": (4.80165, 1.0, 10.0),
    "t_max": (23.0379, 3.0, 25.0),
    "arrive": (0.170645, 0.01, 0.4),
    # stance and swing targets (front / back legs)
    "st_hip_f": (0.419086, -0.2, 0.6),
    "st_hip_b": (0.226674, -0.2, 0.6),
    "sw_hip_f": (-0.269021, -0.6, 0.2),
    "sw_hip_b": (-0.391593, -0.6, 0.2),
    "st_ank_f": (0.888988, 0.5, 1.4),
    "st_ank_b": (0.598942, 0.5, 1.4),
    "sw_ank_f": (0.302343, 0.3, 1.2),
    "sw_ank_b": (0.486855, 0.3, 1.2),
    # part of the swing after which the foot is put down again
    "drop": (0.976247, 0.2, 1.0),
    # gains: stance, swing
    "kp_st": (1.4369, 0.1, 5.0),
    "kp_sw": (0.389216, 0.1, 5.0),
    "kd": (0.0724551, 0.0, 0.3),
    "u_max": (0.331671, 0.1, 1.0),
    # steering
    "k_yaw": (0.835792, -2.0, 2.0),
    "k_wz": (-0.0422917, -0.6, 0.6),
    "k_vy": (0.348477, -0.6, 0.6),
    # recovery
    "tilt_max": (0.205769, 0.2, 1.5),
    "z_low": (0.398291, 0.2, 0.5),
    "z_high": (0.6647, 0.6, 1.0),
    "rec_ank": (0.837019, 0.5, 1.3),
    "kp_rec": (0.235466, 0.05, 3.0),
}

SWEEP = (1.0, 1.0, -1.0, -1.0)  # hip sign that moves the foot backwards
DOWN = (1.0, -1.0, -1.0, 1.0)  # ankle sign that presses the foot down
FRONT = (True, False, False, True)
LEFT = (True, True, False, False)
HIP_ACT = (2, 4, 6, 0)
ANK_ACT = (3, 5, 7, 1)
PAIRS = ((0, 2), (1, 3))


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.stance = 0
        self.n = 0

    def act(self, obs):
        p = self.p
        o = np.asarray(obs, dtype=float)
        height = o[0]
        w, x, y, z = o[1:5]
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        up = 1.0 - 2.0 * (x * x + y * y)  # z component of the torso's up axis
        tilt = math.acos(max(-1.0, min(1.0, up)))
        q, qd = o[5:13], o[19:27]
        vy, wz = o[14], o[18]
        u = np.zeros(8)

        if tilt > p["tilt_max"] or height < p["z_low"] or height > p["z_high"]:
            for i in range(4):
                u[HIP_ACT[i]] = p["kp_rec"] * (0.0 - q[2 * i]) - p["kd"] * qd[2 * i]
                u[ANK_ACT[i]] = (
                    p["kp_rec"] * (DOWN[i] * p["rec_ank"] - q[2 * i + 1]) - p["kd"] * qd[2 * i + 1]
                )
            return np.clip(u, -p["u_max"], p["u_max"]).astype(np.float32)

        steer = p["k_yaw"] * yaw + p["k_wz"] * wz + p["k_vy"] * vy
        steer = max(-0.8, min(0.8, steer))

        # transition
        self.n += 1
        err = 0.0
        for i in PAIRS[self.stance]:
            f = "f" if FRONT[i] else "b"
            err = max(err, p["st_hip_" + f] - SWEEP[i] * q[2 * i])
        if (self.n >= p["t_min"] and err < p["arrive"]) or self.n >= p["t_max"]:
            self.stance = 1 - self.stance
            self.n = 0

        frac = self.n / max(p["t_max"], 1.0)
        for i in range(4):
            f = "f" if FRONT[i] else "b"
            scale = 1.0 + (steer if LEFT[i] else -steer)
            if i in PAIRS[self.stance]:
                hip = p["st_hip_" + f] * scale
                ank = p["st_ank_" + f]
                kp = p["kp_st"]
            else:
                hip = p["sw_hip_" + f] * scale
                ank = p["sw_ank_" + f] if frac < p["drop"] else p["st_ank_" + f]
                kp = p["kp_sw"]
            u[HIP_ACT[i]] = kp * (SWEEP[i] * hip - q[2 * i]) - p["kd"] * qd[2 * i]
            u[ANK_ACT[i]] = kp * (DOWN[i] * ank - q[2 * i + 1]) - p["kd"] * qd[2 * i + 1]

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
