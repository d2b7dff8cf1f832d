"""Policy for Walker2d-v5, written by replay:Walker2d-v5.

Held-out mean return 358.933 (95 % interval 342.301 to 378.184; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c2t of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    # timing (seconds)
    "t_swing": (0.336892, 0.08, 0.6),
    "t_land": (0.113547, 0.10, 0.9),
    "z_foot": (0.118372, 0.02, 0.25),
    # torso
    "torso_ref": (0.00203314, -0.3, 0.4),
    "kp_torso": (3.72725, 0.0, 12.0),
    "kd_torso": (0.898854, 0.0, 2.0),
    # swing state (world hip angle, knee, ankle), forward is positive for the hip
    "sw_hip": (0.205546, -0.5, 1.2),
    "sw_knee": (-0.272712, -2.0, -0.05),
    "sw_ank": (0.657777, -0.7, 0.7),
    "ss_knee": (-0.0878487, -1.0, 0.0),
    "ss_ank": (0.24147, -0.7, 0.7),
    # landing state
    "ld_hip": (-0.0162247, -0.5, 1.0),
    "ld_knee": (-0.00062248, -1.2, 0.0),
    "ld_ank": (0.152013, -0.7, 0.7),
    "ls_knee": (-0.0181196, -1.0, 0.0),
    "ls_ank": (-0.379135, -0.7, 0.7),
    # balance feedback on the swing hip
    "cd_sw": (-0.747285, -1.0, 1.5),
    "cv_sw": (0.107494, -0.2, 0.8),
    "cd_ld": (-0.991052, -1.0, 2.0),
    "cv_ld": (0.0777224, -0.4, 0.6),
    # gains
    "kp_hip": (2.12808, 0.3, 15.0),
    "kd_hip": (0.00227686, 0.0, 2.0),
    "kp_knee": (6.36641, 0.3, 15.0),
    "kd_knee": (0.0597582, 0.0, 2.0),
    "kp_ank": (1.78922, 0.3, 12.0),
    "kd_ank": (0.256452, 0.0, 1.0),
    "push_off": (-0.244435, -0.5, 1.0),
}

DT = 0.008
THIGH, SHIN = 0.45, 0.5


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.swing = 0  # 0: right leg swings, 1: left leg swings
        self.landing = False
        self.t = 0.0

    @staticmethod
    def foot(z, pitch, hip, knee):
        """Ankle position relative to the hip (x) and absolute height (z)."""
        a1 = pitch - hip
        a2 = a1 - knee
        x = -THIGH * math.sin(a1) - SHIN * math.sin(a2)
        h = z - 0.2 * math.cos(pitch) - THIGH * math.cos(a1) - SHIN * math.cos(a2)
        return x, h

    def act(self, obs):
        p = self.p
        o = [float(v) for v in obs]
        z, pitch = o[0], o[1]
        q = np.array(o[2:8])
        vx, rate = o[8], o[10]
        qd = np.array(o[11:17])

        sw = 0 if self.swing == 0 else 3
        st = 3 - sw
        xs, _ = self.foot(z, pitch, q[st], q[st + 1])
        _, hs = self.foot(z, pitch, q[sw], q[sw + 1])

        self.t += DT
        if not self.landing:
            if self.t > p["t_swing"]:
                self.landing = True
                self.t = 0.0
        else:
            if (hs < p["z_foot"] and self.t > 0.04) or self.t > p["t_land"]:
                self.swing = 1 - self.swing
                self.landing = False
                self.t = 0.0
                sw = 0 if self.swing == 0 else 3
                st = 3 - sw
                xs, _ = self.foot(z, pitch, q[st], q[st + 1])

        d = -xs  # hip (about the centre of mass) ahead of the stance ankle
        if self.landing:
            hip_w = p["ld_hip"] + p["cd_ld"] * d + p["cv_ld"] * vx
            sw_knee, sw_ank = p["ld_knee"], p["ld_ank"]
            st_knee, st_ank = p["ls_knee"], p["ls_ank"]
        else:
            hip_w = p["sw_hip"] + p["cd_sw"] * d + p["cv_sw"] * vx
            sw_knee, sw_ank = p["sw_knee"], p["sw_ank"]
            st_knee, st_ank = p["ss_knee"], p["ss_ank"]

        u = np.zeros(6)
        # swing leg: the hip target is a world angle, so add the torso pitch
        hip_t = min(0.1, max(-2.4, hip_w + pitch))
        u[sw] = p["kp_hip"] * (hip_t - q[sw]) - p["kd_hip"] * qd[sw]
        u[sw + 1] = p["kp_knee"] * (sw_knee - q[sw + 1]) - p["kd_knee"] * qd[sw + 1]
        u[sw + 2] = p["kp_ank"] * (sw_ank - q[sw + 2]) - p["kd_ank"] * qd[sw + 2]

        # stance leg: the hip holds the torso
        torso = p["kp_torso"] * (pitch - p["torso_ref"]) + p["kd_torso"] * rate
        u[st] = -torso - 0.5 * u[sw]
        u[st + 1] = p["kp_knee"] * (st_knee - q[st + 1]) - p["kd_knee"] * qd[st + 1]
        u[st + 2] = p["kp_ank"] * (st_ank - q[st + 2]) - p["kd_ank"] * qd[st + 2]
        if self.landing:
            u[st + 2] -= p["push_off"]

        return np.clip(u, -1.0, 1.0).astype(np.float32)


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
    parser.add_argument("--env", default='Walker2d-v5', help="environment id")
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
