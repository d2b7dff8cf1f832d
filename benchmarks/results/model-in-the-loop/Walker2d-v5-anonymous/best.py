"""Policy for Walker2d-v5, written by inbox:box.

Held-out mean return 2591.33 (95 % interval 2572.4 to 2610.65; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn 1.11149 (0.123429 to 2.08443, 100 episodes), the zero action 93.7209 (92.0452 to 95.4515, 100 episodes).
Better than the zero action: 2591 against 93.7 (difference 2498 ± 9.6 over 100 shared episodes). swing_comp stands at the end of its range: widen it in PARAMS of the exported policy and go on from there (--start).
Candidate r2c1t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Step when the capture point has left the stance foot, and push: the leg that has fallen behind the body extends its knee and
presses its toes down. What matters: the push is only for a foot behind the body, and never pitches the trunk.
"""
import math
import numpy as np

PARAMS = {
    "pitch_ref": (-0.339863, -0.45, 0.25),
    "pitch_kp": (2.16988, 0.8, 6.0),
    "pitch_kd": (0.139092, 0.03, 0.4),
    "v_ref": (1.75597, 0.1, 4.0),
    "ankle_v": (0.697018, 0.0, 1.2),       # stance ankle torque per m/s of speed error
    "ankle_k": (0.181114, 0.0, 2.0),        # stance ankle stiffness
    "cap_time": (0.277938, 0.1, 0.5),       # s, of the capture point
    "cap_limit": (0.361025, 0.05, 0.5),    # m ahead of the stance ankle: then step
    "place_v": (0.0189682, 0.0, 0.5),        # s: foot place ahead of the body per speed
    "place_err": (0.190481, 0.0, 0.6),     # m per m/s of speed error
    "place_0": (0.0212283, -0.25, 0.25),
    "swing": (24.0882, 12.0, 50.0),       # steps
    "clear": (0.0325273, 0.03, 0.25),        # m
    "stance_len": (0.89991, 0.85, 0.96),
    "swing_comp": (0.000696421, 0.0, 1.2),
    "ext": (0.0259862, 0.0, 0.1),          # m the leg grows while the foot is behind
    "toe": (0.0879005, -0.2, 1.0),         # ankle push-off torque behind the body
    "front": (-0.0227836, -0.3, 0.4),       # ankle torque of a foot ahead of the body
    "behind": (0.0510774, -0.1, 0.4),      # m behind the body where the push begins
    "lean_v": (0.0515864, -0.15, 0.15),    # rad of trunk pitch per m/s above 1.3
}
THIGH, SHANK, HIP = 0.45, 0.5, 0.2

class Policy:
    def __init__(self, params):
        self.p = params
        self.stance = 0
        self.k = None  # steps of the swing; None: both feet down
        self.from_x = 0.0
        self.from_z = 0.1

    def ankle(self, z, th, q):
        """The ankle's place: x from the trunk, height."""
        a = th - q[0]
        b = a - q[1]
        x = -HIP * math.sin(th) - THIGH * math.sin(a) - SHANK * math.sin(b)
        return x, z - HIP * math.cos(th) - THIGH * math.cos(a) - SHANK * math.cos(b)

    def solve(self, z, th, x, h):
        """Joint angles that bring the ankle to x from the trunk and height h."""
        dx = x + HIP * math.sin(th)
        dz = max(0.3, z - HIP * math.cos(th) - h)
        r = min(math.hypot(dx, dz), 0.945)
        line = math.atan2(-dx, dz)
        knee = math.acos(np.clip((THIGH ** 2 + SHANK ** 2 - r * r) / (2 * THIGH * SHANK), -1, 1))
        alpha = math.acos(np.clip((THIGH ** 2 + r * r - SHANK ** 2) / (2 * THIGH * r), -1, 1))
        return min(0.03, th - line + alpha), knee - math.pi

    def act(self, obs):
        p = self.p
        z, th, vx, w = (float(obs[i]) for i in (0, 1, 8, 10))
        q, qd = obs[2:8].reshape(2, 3), obs[11:17].reshape(2, 3)
        st, sw = self.stance, 1 - self.stance
        place = [self.ankle(z, th, q[i]) for i in range(2)]
        body = -0.1 * math.sin(th)
        capture = body + p["cap_time"] * vx - place[st][0]
        slow = float(np.clip(p["v_ref"] - vx, -1, 1))
        if self.k is None and capture > p["cap_limit"]:
            self.k = 0
            self.from_x, self.from_z = place[sw]
        a = np.zeros((2, 3))
        supports = [0, 1] if self.k is None else [st]
        if self.k is not None:
            f = self.k / p["swing"]
            goal = body + p["place_0"] + p["place_v"] * vx - p["place_err"] * slow
            s = min(1.0, f / 0.75)
            s = s * s * (3 - 2 * s)
            x = self.from_x + (goal - self.from_x) * s
            h = place[st][1] + p["clear"] * math.sin(math.pi * min(1.0, f)) - 0.05 * max(0.0, f - 0.8)
            q1, q2 = self.solve(z, th, x, h)
            level = th - q[sw, 0] - q[sw, 1] - q[sw, 2]
            a[sw, 0] = 3.0 * (q1 - q[sw, 0]) - 0.1 * qd[sw, 0]
            a[sw, 1] = 3.0 * (q2 - q[sw, 1]) - 0.1 * qd[sw, 1]
            a[sw, 2] = 1.0 * (level + 0.1 * (f < 0.8)) - 0.03 * qd[sw, 2]
            a[sw] = np.clip(a[sw], -1, 1)
            self.k += 1
            low = place[sw][1] - place[st][1] < 0.01
            if (f > 0.5 and low) or f > 1.5:
                self.stance, self.k = sw, None
        share = 1.0 / len(supports)
        ref = p["pitch_ref"] + p["lean_v"] * float(np.clip(vx - 1.3, -1, 2))
        for i in supports:
            late = float(np.clip((body - place[i][0] - p["behind"]) / 0.2, 0, 1))
            length = min(0.9495, p["stance_len"] + p["ext"] * late)
            bend = math.pi - math.acos(np.clip((THIGH ** 2 + SHANK ** 2 - length ** 2) / (2 * THIGH * SHANK), -1, 1))
            a[i, 0] = share * (p["pitch_kp"] * (ref - th) - p["pitch_kd"] * w)
            if self.k is not None and len(supports) == 1:
                a[i, 0] -= p["swing_comp"] * a[sw, 0]
            a[i, 1] = 3.5 * (0.03 - bend - q[i, 1]) - 0.1 * qd[i, 1]
            a[i, 2] = p["ankle_v"] * slow - p["ankle_k"] * (q[i, 2] - 0.05) - 0.03 * qd[i, 2]
            a[i, 2] += p["front"] * (place[i][0] > body) - p["toe"] * late
        self.debug = {"cap": round(capture, 2), "k": -1 if self.k is None else self.k, "slow": round(slow, 2)}
        return np.clip(a.ravel(), -1, 1).astype(np.float32)


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
