"""Policy for Pusher-v5, written by replay:Pusher-v5.

Held-out mean return -36.0746 (95 % interval -38.1587 to -33.8285; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c2t of run seed-1, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    # low pose
    "lift": (1.04799, -0.3, 1.3),
    "roll": (-1.19995, -1.2, 1.2),
    "elbow": (-1.41871, -2.2, 0.0),
    "fore": (-0.639202, -1.2, 1.2),
    "wrist": (-0.0169361, -1.0, 0.0),
    "wroll": (-1.09568, -1.2, 1.2),
    # gains
    "kp_pan": (5.08733, 0.3, 12.0),
    "kd_pan": (2.82785, 0.0, 5.0),
    "kp_lift": (0.559843, 0.3, 15.0),
    "kd_lift": (0.013443, 0.0, 5.0),
    "kp_elb": (0.552322, 0.3, 12.0),
    "kd_elb": (1.39524, 0.0, 4.0),
    "kp_rest": (0.570478, 0.1, 6.0),
    "kd_rest": (0.0432997, 0.0, 2.0),
    # task servo
    "k_rad_lift": (-2.148, -6.0, 6.0),
    "k_rad_elb": (7.80736, -8.0, 8.0),
    "k_z_lift": (-0.352987, -2.0, 10.0),
    "k_bear": (0.345265, 0.2, 2.0),
    "z_off": (0.0397374, -0.1, 0.15),
    # push point
    "behind": (0.00272046, 0.0, 0.25),
    "through": (0.000784325, 0.0, 0.3),
    "align_w": (0.233243, 0.01, 0.4),
    "settle": (9.29352, 0.0, 40.0),
    "slow": (0.0426926, 0.01, 0.3),
}

BASE = np.array([0.0, -0.6])


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.n = 0
        self.mix = 0.0

    def act(self, obs):
        p = self.p
        o = np.asarray(obs, dtype=float)
        q, qd = o[0:7], o[7:14]
        tip, obj, goal = o[14:17], o[17:20], o[20:23]
        self.n += 1

        d = goal[:2] - obj[:2]
        dist = float(np.linalg.norm(d))
        u = d / max(dist, 1e-6)
        rel = tip[:2] - obj[:2]
        along = float(rel @ u)
        lateral = float(rel[0] * u[1] - rel[1] * u[0])

        # how well the tip is placed behind the object: 1 = push, 0 = go behind it
        ok = math.exp(-((lateral / p["align_w"]) ** 2)) if along < 0.02 else 0.0
        if self.n < p["settle"]:
            ok = 0.0
        self.mix += 0.3 * (ok - self.mix)

        slow = min(1.0, dist / p["slow"])
        back = obj[:2] - p["behind"] * u
        ahead = obj[:2] + p["through"] * slow * u
        point = (1.0 - self.mix) * back + self.mix * ahead

        # polar coordinates seen from the shoulder
        vt = tip[:2] - BASE
        vp = point - BASE
        bear = math.atan2(vp[1], vp[0]) - math.atan2(vt[1], vt[0])
        bear = (bear + math.pi) % (2.0 * math.pi) - math.pi
        rad = float(np.linalg.norm(vp) - np.linalg.norm(vt))
        ez = obj[2] + p["z_off"] - tip[2]

        pan_t = q[0] + p["k_bear"] * bear
        lift_t = p["lift"] + p["k_rad_lift"] * rad - p["k_z_lift"] * ez
        elb_t = p["elbow"] + p["k_rad_elb"] * rad
        elb_t = max(-2.2, min(0.0, elb_t))
        lift_t = max(-0.5, min(1.35, lift_t))

        a = np.zeros(7)
        a[0] = p["kp_pan"] * (pan_t - q[0]) - p["kd_pan"] * qd[0]
        a[1] = p["kp_lift"] * (lift_t - q[1]) - p["kd_lift"] * qd[1]
        a[3] = p["kp_elb"] * (elb_t - q[3]) - p["kd_elb"] * qd[3]
        for i, name in ((2, "roll"), (4, "fore"), (5, "wrist"), (6, "wroll")):
            a[i] = p["kp_rest"] * (p[name] - q[i]) - p["kd_rest"] * qd[i]
        return np.clip(a, -2.0, 2.0).astype(np.float32)


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

    return np.clip(np.asarray(action, dtype=np.float32), np.float32(-2.0), np.float32(2.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='Pusher-v5', help="environment id")
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
