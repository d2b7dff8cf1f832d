"""Policy for Walker2d-v5, written by inbox:box.

Held-out mean return 2500.74 (95 % interval 2499.55 to 2501.97; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn 1.11149 (0.123429 to 2.08443, 100 episodes), the zero action 93.7209 (92.0452 to 95.4515, 100 episodes).
Better than the zero action: 2501 against 93.7 (difference 2407 ± 1.12 over 100 shared episodes).
Candidate r4c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Timed swing, mirrored landing (tuned numbers fixed), with a slow shift of the landing goal that raises the speed at which placement balances.
Pace s follows the measured speed: times / s, swing gains * s^2, damping * s, push * s. The stance hip takes minus the swing torque plus a pitch PD.
"""
import numpy as np

PARAMS = {
    "less": (0.13, -0.1, 0.4),      # rad, how much lower the landing goal gets
    "quick": (0.8, 0.0, 1.6),       # how much the pace follows the speed beyond 1.58 m/s
    "thrust": (1.0, 0.5, 1.8),      # scale of the late ankle push
    "kx": (1.0, 0.6, 2.5),          # scale of the swing knee's gain while it straightens
    "Ts": (1.0, 0.8, 1.15),         # scale of the swing time once it walks
    "back": (0.0, -0.1, 0.25),      # rad, torso less far back once it walks
}
G = {
    "T": 0.38955, "land": 0.462349, "cv": 0.379881, "mirror": 0.246011, "bend": 1.70627, "pitch": -0.783427,
    "hip": 1.88076, "hip_d": 0.136807, "torso": 1.48823, "knee": 0.725863, "knee_s": -0.369533,
    "ankle": 0.624601, "toe": 0.571245, "push": 0.810043,
}


class Policy:
    def __init__(self, params):
        self.p = params
        self.st = 0
        self.t = 0.0
        self.th0 = None
        self.vf = 0.0
        self.r = 0.0                # 0: the gait as it was, 1: wholly shifted
        self.s = 1.0

    def leg(self, obs, k):
        i = 2 + 3 * k
        th = obs[i] - obs[1]
        sh = th + obs[i + 1]
        z = obs[0] - 0.2 * np.cos(obs[1]) - 0.45 * np.cos(th) - 0.5 * np.cos(sh)
        return th, sh, min(z, z + 0.2 * np.sin(sh + obs[i + 2])) - 0.06

    def act(self, obs):
        p, g = self.p, G
        self.vf += 0.03 * (obs[8] - self.vf)
        if self.vf > 1.3 and obs[0] > 0.94:
            self.r = min(1.0, self.r + 1.0 / 200)
        elif obs[0] < 0.92:
            self.r = max(0.0, self.r - 1.0 / 40)
        r = self.r
        T = g["T"] * (1 + (p["Ts"] - 1) * r) / self.s
        if (self.t > 0.6 * T and self.leg(obs, 1 - self.st)[2] < 0.006) or self.t > 1.7 * T:
            self.st, self.t, self.th0 = 1 - self.st, 0.0, None
            self.s = float(np.clip(1 + p["quick"] * (self.vf / 1.58 - 1), 1.0, 1.5))
            T = g["T"] * (1 + (p["Ts"] - 1) * r) / self.s
        s1 = self.s
        s, w = 3 * self.st, 3 * (1 - self.st)
        th_s, sh_s, low_s = self.leg(obs, self.st)
        th_w, sh_w, low_w = self.leg(obs, 1 - self.st)
        pitch, rate, v = obs[1], obs[10], obs[8]
        if self.th0 is None:
            self.th0 = th_w
        ph = min(self.t / T, 1.0)

        pitch_goal = g["pitch"] + p["back"] * r
        land = g["land"] + g["cv"] * (v - 0.8) - g["mirror"] * min(th_s, 0.0) - p["less"] * r
        land = np.clip(land, -0.6, 0.08 - g["pitch"])
        blend = np.clip(ph / 0.75, 0.0, 1.0)
        blend = blend * blend * (3 - 2 * blend)
        goal = self.th0 + (land - self.th0) * blend
        up = np.sin(np.pi * np.clip(ph / 0.9, 0.0, 1.0)) ** 0.7
        kn = -0.08 - g["bend"] * up
        kp_k = g["knee"] * s1 * s1 * (1 + (p["kx"] - 1) * r * (ph > 0.5))

        u = np.zeros(6)
        swing = g["hip"] * s1 * s1 * (goal - th_w) - g["hip_d"] * s1 * (obs[11 + w] - 0.5 * rate) + 0.3 * s1 * s1 * (land - self.th0) * (ph < 0.3)
        u[w] = np.clip(swing, -0.9, 0.9)
        u[w + 1] = kp_k * (kn - obs[3 + w]) - 0.12 * obs[12 + w]
        u[w + 2] = g["ankle"] * (np.clip(-sh_w + 0.1, -0.5, 0.75) - obs[4 + w]) - 0.03 * obs[13 + w]
        u[s] = g["torso"] * (pitch_goal - pitch) - 0.1 * rate - u[w]
        u[s + 1] = g["knee"] * (g["knee_s"] - obs[3 + s]) - 0.12 * obs[12 + s]
        push = g["push"] * s1 * (1 + (p["thrust"] - 1) * r)
        toe = g["toe"] - (push if ph > 0.5 and th_s < 0.0 else 0.0)
        u[s + 2] = g["ankle"] * (toe - obs[4 + s]) - 0.03 * obs[13 + s]
        self.t += 0.008
        self.debug = {"st": self.st, "s": round(self.s, 2), "r": round(r, 2), "vf": round(float(self.vf), 2), "ph": round(float(ph), 2),
                      "th_s": round(float(th_s), 2), "th_w": round(float(th_w), 2), "goal": round(float(goal), 2), "land": round(float(land), 2)}
        return np.clip(u, -1, 1).astype(np.float32)


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
