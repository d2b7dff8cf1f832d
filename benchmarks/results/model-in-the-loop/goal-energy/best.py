"""Policy for Walker2d-v5 with the reward written for the goal (b5088644), written by inbox:box.

Held-out mean return 949.353 (95 % interval 945.224 to 952.771; 20 episodes, seeds 20000000 to 20000019).
Success in 0% of them.
On the same seeds random actions earn -8.99 (-9.16 to -8.81, 20 episodes), the zero action -4.33 (-4.49 to -4.16, 20 episodes).
Better than the zero action: 949.4 against -4.33 (difference 953.7 ± 2.0 over 20 shared episodes). No episode of any policy succeeded. To help, say in words how the task is done (--hint), or raise --max-steps.
Candidate r2c1t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

SIMBICON-like walk that guards its speed: further back lean, longer reach, sooner and shorter steps and no push when it gets fast; steps change on contact.
"""
import math
import numpy as np

PARAMS = {
    "kp": (4.18666, 1.0, 8.0),
    "kd": (0.27915, 0.05, 0.7),
    "kpt": (2.18301, 1.0, 8.0),        # torso
    "kdt": (0.133433, 0.05, 0.8),
    "lean": (-0.556177, -0.7, 0.1),    # torso angle held; back is negative
    "lift": (0.547868, 0.1, 0.9),      # world angle of the swing thigh, forward, in the first phase
    "reach": (0.186736, 0.0, 0.6),     # and in the second
    "knee": (-0.867245, -1.4, -0.3),    # swing knee in the first phase
    "knee2": (-0.031168, -0.5, 0.0),
    "stance": (-0.0190886, -0.4, 0.0),  # stance knee
    "cv": (0.216084, 0.0, 0.6),        # more forward the faster than wanted
    "cd": (0.257364, 0.0, 1.0),        # and the further the body is ahead of the stance foot
    "speed": (1.1073, 0.5, 1.5),
    "t1": (17.9936, 10.0, 45.0),      # steps of the first phase
    "t2": (31.3501, 6.0, 50.0),       # most steps of the second
    "push": (0.0293315, -0.1, 0.6),     # toe of the stance foot pressed down in the second phase
    "kf": (1.36174, 0.1, 2.0),
    "back": (0.132802, 0.0, 0.8),      # further back lean for each m/s too fast
    "brake": (0.11618, 0.0, 0.8),     # longer reach for each m/s too fast
    "hurry": (9.53348, 0.0, 24.0),    # steps sooner for each m/s too fast
    "ahead": (0.187586, 0.08, 0.4),    # body this far before the stance foot: reach at once
    "margin": (0.098096, -0.4, 0.4),    # m/s from the wanted speed at which too fast begins
    "toe": (0.100735, -0.2, 0.4),
}

class Policy:
    def __init__(self, params):
        self.p = params
        self.left_swings = True
        self.phase = 0
        self.n = 0
        self.steps = 0
        self.t = 0
        self.v = 0.0

    def act(self, obs):
        p = self.p
        o = [float(u) for u in obs]
        z, th, vx, w = o[0], o[1], o[8], o[10]
        self.t += 1
        self.n += 1
        self.v += (vx - self.v) / 12.0
        fast = min(max(self.v - p["speed"] - p["margin"], 0.0), 1.2)
        q = {False: o[2:5], True: o[5:8]}
        d = {False: o[11:14], True: o[14:17]}
        sw, st = self.left_swings, not self.left_swings

        def foot(side):
            """x of the ankle before the torso and height of the foot's lowest end."""
            a, b, c = q[side]
            t1 = th - a
            t2 = t1 - b
            t3 = t2 - c
            x = -0.2 * math.sin(th) - 0.45 * math.sin(t1) - 0.5 * math.sin(t2)
            h = z - 0.2 * math.cos(th) - 0.45 * math.cos(t1) - 0.5 * math.cos(t2)
            return x, min(h, h - 0.2 * math.sin(t3)) - 0.06

        xs, hs = foot(st)
        xw, hw = foot(sw)

        # phases: first by time, second until the swing foot lands
        if self.phase == 0 and (self.n >= p["t1"] - p["hurry"] * fast or (self.n > 7 and -xs > p["ahead"] + 0.05)):
            self.phase, self.n = 1, 0
        elif self.phase == 1 and ((hw < 0.006 and self.n > 2 and xw > xs + 0.02) or self.n >= p["t2"]):
            self.left_swings = not self.left_swings
            self.phase, self.n = 0, 0
            self.steps += 1
            sw, st = st, sw
            xs, xw = xw, xs

        ahead = -xs - 0.05  # of the body before the stance foot
        place = p["cv"] * (vx - p["speed"]) + p["cd"] * max(min(ahead, 0.4), -0.4)
        want = (p["lift"] if self.phase == 0 else p["reach"]) + place
        want += p["brake"] * fast
        want = min(max(want, -0.5), -th + 0.02)  # the hip's limit
        kp, kd = p["kp"], p["kd"]

        f = q[sw][0] - th          # world angle of the swing thigh, forward positive
        hip_sw = kp * (want - f) - kd * (d[sw][0] - w)
        knee_t = p["knee"] if self.phase == 0 else p["knee2"]
        knee_sw = kp * (knee_t - q[sw][1]) - kd * d[sw][1]
        level = th - q[sw][0] - q[sw][1]
        foot_sw = p["kf"] * (min(max(level + p["toe"], -0.75), 0.75) - q[sw][2]) - 0.05 * d[sw][2]

        torso = p["kpt"] * (p["lean"] - min(p["back"] * fast, 0.35) - th) - p["kdt"] * w
        hip_sw = min(max(hip_sw, -1.0), 1.0)
        hip_st = torso - hip_sw
        knee_st = kp * (p["stance"] - q[st][1]) - kd * d[st][1]
        level = th - q[st][0] - q[st][1]
        press = p["push"] * max(1.0 - 2.0 * fast, 0.0) if self.phase == 1 else 0.0
        foot_st = 0.6 * p["kf"] * (min(max(level, -0.7), 0.7) - q[st][2]) - 0.05 * d[st][2] - press

        a = {sw: [hip_sw, knee_sw, foot_sw], st: [hip_st, knee_st, foot_st]}
        self.debug = {"phase": self.phase, "steps": self.steps, "swing": "L" if sw else "R", "xs": round(xs, 2), "want": round(want, 2), "hw": round(hw, 3)}
        return np.clip(np.array(a[False] + a[True]), -1.0, 1.0)


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
