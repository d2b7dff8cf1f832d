"""Policy for Hopper-v5, written by replay:Hopper-v5.

Held-out mean return 1053.97 (95 % interval 1053.76 to 1054.18; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c1t of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    # contact estimate
    "z_contact": (0.165816, 0.05, 0.30),
    "t_min_stance": (4.68008, 0.0, 40.0),
    "t_min_flight": (10.1643, 0.0, 60.0),
    # torso
    "pitch_ref": (-0.102713, -0.15, 0.15),
    "k_pitch": (19.8665, 0.0, 20.0),
    "k_rate": (0.515635, 0.0, 4.0),
    # speed control by foot placement
    "v_des": (0.5377, 0.0, 4.0),
    "k_place": (-0.171309, -0.3, 0.5),
    "k_vel": (-0.0377322, -0.3, 0.5),
    "place0": (0.0999792, -0.8, 0.1),
    # flight PD targets
    "fl_leg": (-0.245711, -1.5, 0.0),
    "fl_foot": (-0.367373, -0.7, 0.7),
    "kp_fl": (0.300805, 0.2, 10.0),
    "kd_fl": (0.597781, 0.0, 1.0),
    # stance compression and thrust
    "st_leg_load": (-0.633499, -1.5, 0.0),
    "st_leg_ext": (-0.128152, -0.6, 0.0),
    "st_foot_load": (0.610839, -0.7, 0.7),
    "st_foot_ext": (-0.297677, -0.8, 0.7),
    "kp_st": (1.34364, 0.2, 12.0),
    "kd_st": (0.776875, 0.0, 1.0),
    "thrust": (0.887271, -0.5, 1.0),
    "thrust_vz": (0.515851, -1.5, 1.0),
}


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.stance = True
        self.count = 0
        self.pushing = False

    @staticmethod
    def ankle_height(z, th, q1, q2):
        a1 = th - q1
        a2 = a1 - q2
        return z - 0.2 * math.cos(th) - 0.45 * math.cos(a1) - 0.5 * math.cos(a2)

    def act(self, obs):
        p = self.p
        z, th, q1, q2, q3 = [float(v) for v in obs[0:5]]
        vx, vz, w, d1, d2, d3 = [float(v) for v in obs[5:11]]

        h = self.ankle_height(z, th, q1, q2)
        self.count += 1
        if self.stance:
            if h > p["z_contact"] + 0.02 and self.count > p["t_min_stance"]:
                self.stance = False
                self.count = 0
        else:
            if h < p["z_contact"] and vz < 0.2 and self.count > p["t_min_flight"]:
                self.stance = True
                self.pushing = False
                self.count = 0

        if self.stance:
            if vz > p["thrust_vz"]:
                self.pushing = True
            leg_t = p["st_leg_ext"] if self.pushing else p["st_leg_load"]
            foot_t = p["st_foot_ext"] if self.pushing else p["st_foot_load"]
            # hip torque reacts on the torso: positive thigh torque pitches the torso forward
            u1 = -(p["k_pitch"] * (th - p["pitch_ref"]) + p["k_rate"] * w) * -1.0
            u1 = -u1 if False else u1
            u2 = p["kp_st"] * (leg_t - q2) - p["kd_st"] * d2
            u3 = p["kp_st"] * (foot_t - q3) - p["kd_st"] * d3
            if self.pushing:
                u2 += p["thrust"]
                u3 -= p["thrust"]
        else:
            # faster than wanted -> put the foot further ahead
            place = p["place0"] + p["k_place"] * vx + p["k_vel"] * (vx - p["v_des"])
            place = max(-1.2, min(0.0, place))
            u1 = p["kp_fl"] * (place + th - q1) - p["kd_fl"] * d1
            u2 = p["kp_fl"] * (p["fl_leg"] - q2) - p["kd_fl"] * d2
            u3 = p["kp_fl"] * (p["fl_foot"] - q3) - p["kd_fl"] * d3

        return np.clip(np.array([u1, u2, u3]), -1.0, 1.0).astype(np.float32)


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
    parser.add_argument("--env", default='Hopper-v5', help="environment id")
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
