"""Policy for Walker2d-v5 with the reward written for the goal (3f816883), written by inbox:box.

Held-out mean return 1539.28 (95 % interval 1537.54 to 1541.17; 100 episodes, seeds 20000000 to 20000099).
Success in 100% of them.
On the same seeds random actions earn 5.94 (5.39 to 6.54, 100 episodes), the zero action 22.6 (22.3 to 22.9, 100 episodes).
Solved: success in 100% of the test episodes.
Candidate r2c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Lean first, then lift: on both feet the ankles bring the mass centre over mid-foot; only then the left knee folds, slowly.
The right ankle places the centre of pressure inside the foot and presses a toe that has come up down again.
"""
import math
import numpy as np

PARAMS = {
    "com_ref": (0.09, 0.05, 0.15),
    "com_go": (0.058, 0.035, 0.1),
    "cp_kp": (0.631359, 0.2, 3.0),
    "cp_kd": (0.426742, 0.15, 1.0),
    "p_lean": (0.004, -0.01, 0.02),
    "slack": (0.03, 0.0, 0.06),
    "p_lo": (0.0122933, -0.01, 0.05),
    "p_hi": (0.161069, 0.12, 0.25),
    "toe_kp": (0.83309, 0.0, 2.5),
    "toe_kd": (0.0178025, 0.0, 0.05),
    "knee_bend": (0.0995657, 0.02, 0.5),
    "knee_kp": (2.17515, 0.5, 5.0),
    "knee_kd": (0.13074, 0.03, 0.4),
    "torso_ref": (0.0, -0.3, 0.2),
    "torso_kp": (1.37744, 0.4, 4.0),
    "torso_kd": (0.1, 0.03, 0.35),
    "torso_err": (0.186536, -2.0, 3.0),
    "lift": (0.997257, 0.85, 1.5),
    "lift_kp": (0.984018, 0.3, 2.5),
    "lift_kd": (0.112718, 0.02, 0.2),
    "swing_ref": (-0.05, -0.5, 0.0),
    "swing_kp": (0.844484, 0.2, 2.5),
    "swing_kd": (0.0893182, 0.02, 0.25),
    "swing_err": (0.613784, -2.0, 5.0),
    "ramp": (68.0214, 30.0, 200.0),
}

G = 9.81
M_TORSO, M_THIGH, M_LEG, M_FOOT = 3.67, 4.06, 2.78, 3.17
M_ALL = M_TORSO + 2 * (M_THIGH + M_LEG + M_FOOT)

def clip(v, lo, hi):
    return max(lo, min(hi, v))

def chain(to, wt, th, le, fo, vth, vle, vfo):
    """Pitches, rates and x from the hip of one leg: knee, ankle, centres of thigh, leg, foot, and their rates."""
    S, C = math.sin, math.cos
    a = to - th; b = a - le; c = b - fo
    wa = wt - vth; wb = wa - vle; wc = wb - vfo
    knee = -0.45 * S(a); vknee = -0.45 * C(a) * wa
    ank = knee - 0.5 * S(b); vank = vknee - 0.5 * C(b) * wb
    foot = ank + 0.1 * C(c); vfoot = vank - 0.1 * S(c) * wc
    m = M_THIGH * knee / 2 + M_LEG * (knee + ank) / 2 + M_FOOT * foot
    mv = M_THIGH * vknee / 2 + M_LEG * (vknee + vank) / 2 + M_FOOT * vfoot
    return a, b, c, wc, knee, ank, vank, foot, m, mv

def statics(cop_from_ankle, N, knee, ank, foot):
    """Joint torques (action units) that carry N at cop, x from the hip: hip, knee, ankle."""
    p = ank + cop_from_ankle
    t_ank = -cop_from_ankle * N + G * M_FOOT * (foot - ank)
    t_knee = -(p - knee) * N + G * (M_LEG * ((ank - knee) / 2) + M_FOOT * (foot - knee))
    t_hip = -p * N + G * (M_THIGH * knee / 2 + M_LEG * (knee + ank) / 2 + M_FOOT * foot)
    return t_hip / 100.0, t_knee / 100.0, t_ank / 100.0

class Policy:
    def __init__(self, params):
        self.p = params
        self.t = 0
        self.go = None

    def act(self, obs):
        P = self.p
        o = [float(v) for v in obs]
        z, to, wt = o[0], o[1], o[10]
        ra, rb, rc, wrc, rkn, ran, vran, rft, rm, rmv = chain(to, wt, o[2], o[3], o[4], o[11], o[12], o[13])
        la, lb, lc, wlc, lkn, lan, vlan, lft, lm, lmv = chain(to, wt, o[5], o[6], o[7], o[14], o[15], o[16])
        com = (M_TORSO * 0.2 * math.sin(to) + rm + lm) / M_ALL - ran
        vcom = (M_TORSO * 0.2 * math.cos(to) * wt + rmv + lmv) / M_ALL - vran

        ank_z = z - 0.2 * math.cos(to) - 0.45 * math.cos(ra) - 0.5 * math.cos(rb)
        low = min(ank_z, ank_z - 0.2 * math.sin(rc)) - 0.06
        load = clip((0.03 - low) / 0.025, 0.0, 1.0)
        W = M_ALL * G * load

        if self.go is None and (self.t > 25 and com + 0.2 * vcom > P["com_go"] or self.t > 130):
            self.go = self.t
        s = 0.0 if self.go is None else clip((self.t - self.go) / P["ramp"], 0.0, 1.0)
        self.t += 1
        left_share = 0.5 * clip(1.0 - s / 0.15, 0.0, 1.0)
        fold = s * s * (3.0 - 2.0 * s)

        e = com - P["com_ref"]
        cop = clip(com + P["cp_kp"] * e + P["cp_kd"] * vcom, P["p_lo"], P["p_hi"])
        if self.go is None:
            cop = P["p_lean"]  # all weight on the heels: the mass falls forward fastest
        capture = clip(e + vcom / 4.0, -0.2, 0.2)

        # the ground force points from the pressure point to the mass centre: hip and knee feel it as if it stood below the
        # mass centre, only the ankle feels the pressure point itself
        fh, fk, _ = statics(com, W * (1.0 - left_share), rkn, ran, rft)
        fa = statics(cop, W * (1.0 - left_share), rkn, ran, rft)[2]
        t_ref = (P["torso_ref"] + P["torso_err"] * capture) * fold
        on_torso = load * (P["torso_kp"] * (t_ref - to) - P["torso_kd"] * wt)
        u_hip = load * fh + on_torso * (1.0 - left_share) + (1.0 - load) * (-o[2] - 0.1 * o[11])
        u_knee = load * fk + P["knee_kp"] * (-P["knee_bend"] * fold - o[3]) - P["knee_kd"] * o[12]
        up = P["slack"]
        toe = P["toe_kp"] * min(rc + up, 0.0) + P["toe_kd"] * wrc * (1.0 if rc < -up else 0.0)
        u_ank = load * (fa + toe) + (1.0 - load) * (0.4 * rc + 0.02 * wrc)

        # left leg: bears half the weight until s = 0.15, then folds
        gh, gk, _ = statics(com, W * left_share, lkn, lan, lft)
        ga = statics(cop, W * left_share, lkn, lan, lft)[2]
        bear = 2.0 * left_share
        air = 1.0 - bear
        th_ref = min(0.0, (P["swing_ref"] - P["swing_err"] * capture) * fold)
        u_lhip = gh + on_torso * left_share + air * (P["swing_kp"] * (th_ref - o[5]) - P["swing_kd"] * o[14])
        u_lknee = gk + P["lift_kp"] * (-P["lift"] * fold - o[6]) - P["lift_kd"] * o[15]
        f_ref = clip(lb + 0.1, -0.7, 0.76)
        toe_l = P["toe_kp"] * min(lc + up, 0.0) + P["toe_kd"] * wlc * (1.0 if lc < -up else 0.0)
        u_lank = load * bear * (ga + toe_l) + (1.0 - load * bear) * (0.4 * (f_ref - o[7]) - 0.02 * o[16])

        self.debug = {"com": com, "vcom": vcom, "cop": cop, "s": s, "toe_up": -rc}
        a = np.array([u_hip, u_knee, u_ank, u_lhip, u_lknee, u_lank], dtype=np.float64)
        return np.clip(np.nan_to_num(a), -1.0, 1.0).astype(np.float32)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    policy = Policy({name: value[0] for name, value in PARAMS.items()})
    return policy


def predict(observation, state=None, episode_start=None, deterministic=True):
    """Actions for one observation, or for a batch as vectorised environments give it.

    Args:
        observation: One observation, or a batch: arrays with a leading axis, or a dict or tuple of them.
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
        return as_action(state[0].act(observation)), state
    starts = np.atleast_1d(episode_start)
    state = list(state) if state is not None else [None] * len(starts)
    actions = []
    for i, start in enumerate(starts):
        if start or state[i] is None:
            state[i] = new_policy()
        actions.append(as_action(state[i].act(one_of_batch(observation, i))))
    return np.asarray(actions), tuple(state)


def one_of_batch(batch, i):
    """The i-th observation of a batch, in the form in which the environment itself gives it."""
    import numpy as np

    if isinstance(batch, dict):
        return {key: one_of_batch(value, i) for key, value in batch.items()}
    if isinstance(batch, tuple) and not isinstance(batch[0], str):
        return tuple(one_of_batch(value, i) for value in batch)
    one = batch[i]
    if isinstance(one, np.integer):
        return int(one)
    return one if isinstance(one, str) else np.asarray(one)


def as_action(action):
    """What the policy returned, as the environment wants it, within its bounds."""
    import numpy as np

    action = np.asarray(action, dtype=np.float32).reshape((6,))
    return np.clip(action, np.float32(-1.0), np.float32(1.0))


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
