"""Policy for Swimmer-v5, written by replay:Swimmer-v5.

Held-out mean return 347.145 (95 % interval 345.785 to 348.436; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c1t of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    "freq": (0.757825, 0.2, 3.0),
    "phase0": (-0.0613476, -3.1416, 3.1416),
    "lag": (-3.07641, -3.1416, 3.1416),
    "amp1": (0.661798, 0.1, 1.8),
    "amp2": (1.6189, 0.1, 1.8),
    "off1": (0.126606, -0.5, 0.5),
    "off2": (0.125792, -0.5, 0.5),
    "kp1": (1.23424, 0.1, 10.0),
    "kp2": (1.05887, 0.1, 10.0),
    "kd1": (0.0107861, 0.0, 1.0),
    "kd2": (0.0843618, 0.0, 1.0),
    "k_head": (-1.28731, -2.0, 2.0),
    "k_vy": (-0.982007, -1.0, 1.0),
    "head_ref": (-0.00511568, -0.8, 0.8),
}

DT = 0.04


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.t = 0.0
        self.heading = 0.0
        self.first = True

    def act(self, obs):
        p = self.p
        a0, q1, q2, vx, vy, w0, d1, d2 = [float(v) for v in obs]

        # mean direction of the three links; low-pass to remove the undulation
        body = a0 + (2.0 * q1 + q2) / 3.0
        if self.first:
            self.heading = body
            self.first = False
        self.heading += 0.03 * (body - self.heading)

        bias = p["k_head"] * (self.heading - p["head_ref"]) + p["k_vy"] * vy
        s = 2.0 * math.pi * p["freq"] * self.t + p["phase0"]
        t1 = p["off1"] + p["amp1"] * math.sin(s) - bias
        t2 = p["off2"] + p["amp2"] * math.sin(s + p["lag"]) - bias

        u1 = p["kp1"] * (t1 - q1) - p["kd1"] * d1
        u2 = p["kp2"] * (t2 - q2) - p["kd2"] * d2
        self.t += DT
        return np.clip(np.array([u1, u2]), -1.0, 1.0).astype(np.float32)


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
    parser.add_argument("--env", default='Swimmer-v5', help="environment id")
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
