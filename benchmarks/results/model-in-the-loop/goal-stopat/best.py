"""Policy for Hopper-v5 with the reward written for the goal (63650d9a), written by inbox:box.

Held-out mean return 224.748 (95 % interval 224.085 to 225.385; 20 episodes, seeds 20000000 to 20000019).
Success in 0% of them.
On the same seeds random actions earn -7.77 (-8.3 to -6.97, 20 episodes), the zero action 0.481 (-2.43 to 4.84, 20 episodes).
Better than the zero action: 224.7 against 0.481 (difference 224.3 ± 2.1 over 20 shared episodes). No episode of any policy succeeded. To help, say in words how the task is done (--hint), or raise --max-steps.
Candidate r2c3t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Force control: wanted vertical force F and point xc under the foot give all three torques; a larger F while leaning out is the hop.
"""
import math
import numpy as np

PARAMS = {
    "kc": (1.63918, 1.0, 3.5),        # point of force = ref + kc (offset - ref) + kd speed
    "kd": (0.733643, 0.1, 0.9),
    "ref": (0.058653, 0.0, 0.12),
    "go": (0.186407, 0.08, 0.26),     # offset to lean out to on the way
    "trig": (0.246791, 0.12, 0.38),   # offset + 0.28 s of speed that sets off a hop
    "force": (343.849, 180.0, 800.0),
    "fx": (0.0544751, -0.08, 0.08),    # shift of the point in the thrust, m
    "steps": (5.94243, 4.0, 22.0),
    "bend": (0.167358, 0.05, 0.6),
    "kth": (3.0273, 0.8, 7.0),
    "kw": (0.150626, 0.05, 0.8),
    "tilt": (0.0184892, -0.06, 0.08),
    "land": (0.157601, 0.0, 0.4),
    "toe": (-0.102449, -0.2, 0.3),
    "gap": (7.65905, 4.0, 60.0),     # steps on the ground before the next lean
    "stop": (0.150549, 0.0, 0.3),
}
DT = 0.008
M = np.array([3.67, 4.06, 2.78, 5.32])
WEIGHT = 10.51 * 9.81  # of what the foot carries, N


def geometry(o):
    """Offsets of knee, hip and centre of mass ahead of the ankle, foot clearance, shin angle."""
    t0 = o[1]
    t1 = t0 - o[2]
    t2 = t1 - o[3]
    t3 = t2 - o[4]
    knee = 0.5 * math.sin(t2)
    hip = knee + 0.45 * math.sin(t1)
    root = hip + 0.2 * math.sin(t0)
    xs = np.array([root, hip - 0.225 * math.sin(t1), 0.25 * math.sin(t2), 0.065 * math.cos(t3)])
    z = o[0] - 0.2 * math.cos(t0) - 0.45 * math.cos(t1) - 0.5 * math.cos(t2)
    low = min(z + 0.13 * math.sin(t3), z - 0.26 * math.sin(t3)) - 0.06
    return knee, hip, float(np.dot(M, xs) / M.sum()), low, t2


class Policy:
    def __init__(self, params):
        self.p = params
        self.x = 0.0
        self.v = 0.0
        self.last = None
        self.t = 0
        self.ground = 0
        self.thrust = 0
        self.after = 99
        self.hops = 0

    def act(self, obs):
        p = self.p
        o = [float(u) for u in obs]
        knee, hip, rel, low, t2 = geometry(o)
        if self.last is not None:
            self.x += 0.5 * (o[5] + self.last[0]) * DT
            self.v += 0.5 * ((rel - self.last[1]) / DT - self.v)
        self.last = (o[5], rel)
        self.t += 1
        self.after += 1
        left = 1.0 - self.x
        self.ground = self.ground + 1 if low < 0.012 else 0
        way = left > p["stop"] and self.t > 40 and self.ground > p["gap"]
        topple = rel + 0.28 * self.v
        if self.thrust <= 0 and self.ground > 2 and self.t > 60 and self.after > 12:
            if (topple > p["trig"] and left > p["stop"]) or topple > 0.33:
                self.thrust = int(p["steps"])
                self.hops += 1

        torso = -p["kth"] * (o[1] - p["tilt"]) - p["kw"] * o[7]
        if self.thrust > 0:
            self.thrust -= 1
            if self.thrust == 0 or low > 0.02:
                self.thrust, self.after = 0, 0
            size = min(1.0, 0.6 + max(left, 0.0))
            force = WEIGHT + (p["force"] - WEIGHT) * size
            xc = min(max(rel + p["fx"], -0.1), 0.27)
            a = [torso - force * (xc - hip) / 200.0, -force * (xc - knee) / 200.0, -force * xc / 200.0]
        elif low > 0.012 or self.after < 6:
            a = [torso, 3 * (-p["land"] - o[3]) - 0.2 * o[9],
                 3 * (min(max(t2 + p["toe"], -0.7), 0.7) - o[4]) - 0.2 * o[10]]
        else:
            ref = p["go"] if way else p["ref"]
            bend = p["bend"] if way else 0.04
            xc = min(max(ref + p["kc"] * (rel - ref) + p["kd"] * self.v, -0.11), 0.27)
            a = [0.6 * torso + 1.5 * (-0.02 - o[2]) * (not way) - 0.1 * o[8],
                 4 * (-bend - o[3]) - 0.3 * o[9] - WEIGHT * (rel - knee) / 200.0,
                 -WEIGHT * xc / 200.0]
        self.debug = {"x": round(self.x, 2), "rel": round(rel, 3), "low": round(low, 3), "thrust": self.thrust, "hops": self.hops}
        return np.clip(np.array(a), -1.0, 1.0)


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

    action = np.asarray(action, dtype=np.float32).reshape((3,))
    return np.clip(action, np.float32(-1.0), np.float32(1.0))


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
