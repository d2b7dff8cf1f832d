"""Policy for Walker2d-v5, written by inbox:box.

Held-out mean return 2938.59 (95 % interval 2852.29 to 3015.08; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn 1.11149 (0.123429 to 2.08443, 100 episodes), the zero action 93.7209 (92.0452 to 95.4515, 100 episodes).
Better than the zero action: 2939 against 93.7 (difference 2845 ± 41.4 over 100 shared episodes).
Candidate r4c3t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Spring-legged run: knee torque of a virtual leg spring with late thrust, foot placed by Raibert's rule, the torso held by the carrying hip.

The hips bend only backwards and the centre of mass lies behind the hip (legs trail, torso leans back), so feet land behind the hip.
"""
import math
import numpy as np

PARAMS = {
    "pitch": (-0.709177, -0.8, -0.25),     # torso pitch held
    "v_goal": (2.46858, 0.8, 4.5),         # m/s
    "ramp": (0.512728, 0.2, 1.5),          # m/s per s
    "step": (0.267217, 0.14, 0.45),        # s, expected time between landings
    "place_0": (-0.255858, -0.5, 0.1),     # m, landing ankle before the hip at rest
    "place_v": (0.0333769, 0.0, 0.25),      # m per m/s
    "place_e": (0.0374258, 0.0, 0.3),       # m per m/s too fast
    "rest": (0.947266, 0.88, 0.9495),     # m, rest length of the leg spring
    "stiff": (11.4047, 2.0, 20.0),         # kN/m
    "damp": (0.382602, 0.0, 1.0),          # kN s/m
    "thrust": (0.0788801, 0.0, 0.6),        # kN once the ankle trails
    "toe": (0.618619, 0.0, 1.0),            # toe torque then
    "trail": (-0.213528, -0.5, -0.05),     # m, ankle against hip at which the thrust begins
    "heel_v": (0.222423, 0.0, 0.5),        # heel torque per m/s too slow
    "bend": (0.916215, 0.4, 1.8),          # rad, knee in mid-swing
    "lead": (0.0329677, 0.0, 0.12),         # s, swing targets are taken ahead
    "hip_kp": (3.50252, 1.5, 7.0),
    "knee_kp": (4.39352, 1.0, 7.0),
}
A, B, DT = 0.45, 0.5, 0.008


def clamp(x, lo, hi):
    return lo if x < lo else hi if x > hi else x


class Policy:
    def __init__(self, params):
        self.p = params
        self.carry, self.t, self.time, self.v = 0, 0.0, 0.0, 0.0
        self.start = 0.0                     # where the swing foot was when its swing began

    def act(self, obs):
        p = self.p
        z, pitch, w = obs[0], obs[1], obs[10]
        self.t += DT
        self.time += DT
        self.v += 0.15 * (obs[8] - 0.2 * math.cos(pitch) * w - self.v)
        v = self.v
        err = v - min(p["v_goal"], 0.9 + p["ramp"] * self.time)
        th = [obs[2] - pitch, obs[5] - pitch]
        kn = [obs[3], obs[6]]
        sh = [th[0] + kn[0], th[1] + kn[1]]
        x, low = [], []
        for i in (0, 1):
            x.append(A * math.sin(th[i]) + B * math.sin(sh[i]))
            ankle = z - 0.2 * math.cos(pitch) - A * math.cos(th[i]) - B * math.cos(sh[i])
            low.append(ankle + min(0.0, 0.2 * math.sin(sh[i] + obs[4 + 3 * i])) - 0.06)
        air = 1 - self.carry
        if (self.t > 0.6 * p["step"] and low[air] < 0.004) or self.t > 1.7 * p["step"]:
            self.start = x[self.carry]
            self.carry, self.t = air, 0.0
        c, s = self.carry, 1 - self.carry
        u = np.zeros(6)

        # swinging leg: from where it left to the landing place; the knee bends first and is straight in time
        prog = (self.t + p["lead"]) / p["step"]
        land = clamp(p["place_0"] + p["place_v"] * v + p["place_e"] * err, -0.45, 0.4)
        mix = 0.5 - 0.5 * math.cos(math.pi * clamp(prog, 0.0, 1.0))
        line = math.asin(clamp((self.start + (land - self.start) * mix) / 0.94, -0.6, 0.5))
        knee = 0.12 + p["bend"] * max(0.0, math.sin(math.pi * clamp(prog * 0.9 + 0.1, 0.0, 1.0)))
        if self.t > 1.1 * p["step"]:
            knee = 0.06
        goal = min(line + 0.53 * knee, -0.02 - pitch)
        i, j = 3 * s, 11 + 3 * s
        hip = clamp(p["hip_kp"] * (goal - th[s]) - 0.3 * (obs[j] - w), -0.9, 0.9)
        u[i] = hip
        u[i + 1] = p["knee_kp"] * (-knee - kn[s]) - 0.18 * obs[j + 1]
        u[i + 2] = 0.8 * (clamp(0.08 - sh[s], -0.7, 0.7) - obs[4 + i]) - 0.03 * obs[j + 2]

        # carrying leg: torso by the hip, spring and thrust by the knee, support by the ankle
        i, j = 3 * c, 11 + 3 * c
        u[i] = 2.0 * (p["pitch"] - pitch) - 0.12 * w - hip
        k = min(kn[c], -0.03)
        length = math.sqrt(A * A + B * B + 2 * A * B * math.cos(k))
        arm = -A * B * math.sin(k) / length                       # m of leg per rad of knee
        late = clamp((p["trail"] - x[c]) / 0.12, 0.0, 1.0) * clamp(1.5 - err, 0.0, 1.0)
        force = p["stiff"] * (p["rest"] - length) - p["damp"] * arm * obs[j + 1] + p["thrust"] * late
        u[i + 1] = 10.0 * force * arm - 0.05 * obs[j + 1]         # kN m in units of 100 N m
        u[i + 2] = clamp(-p["heel_v"] * err, -0.45, 0.13) - p["toe"] * late - 0.02 * obs[j + 2]
        self.debug = {"carry": c, "prog": round(prog, 2), "land": round(land, 2), "x_c": round(x[c], 2),
                      "x_s": round(x[s], 2), "v": round(v, 2)}
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
