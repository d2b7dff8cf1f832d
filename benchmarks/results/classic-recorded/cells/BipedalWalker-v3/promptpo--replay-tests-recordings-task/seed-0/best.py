"""Policy for BipedalWalker-v3, written by replay:BipedalWalker-v3.

Held-out mean return 136.694 (95 % interval 120.564 to 151.263; 100 episodes, seeds 20000000 to 20000099).
Candidate r1c1t of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import numpy as np

PARAMS = {
    "speed": (0.204972, 0.1, 0.8),
    "support_knee": (0.0292714, -0.3, 0.5),
    "swing_hip": (1.17567, 0.4, 1.4),
    "swing_knee": (-0.790344, -1.2, 0.0),
    "down_hip": (0.128686, -0.4, 0.5),
    "push_knee": (0.852115, 0.3, 1.4),
    "hip_p": (0.839904, 0.2, 3.0),
    "hip_d": (0.503459, 0.0, 1.0),
    "knee_p": (2.50403, 0.5, 10.0),
    "knee_d": (0.126815, 0.0, 1.0),
    "hull_p": (1.9834, 0.0, 3.0),
    "hull_d": (2.65893, 0.0, 4.0),
    "vy_damp": (5.55754, 0.0, 30.0),
    "out_scale": (1.2726, 0.1, 1.5),
}

STAY_ON_ONE_LEG, PUT_OTHER_DOWN, PUSH_OFF = 1, 2, 3


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.state = STAY_ON_ONE_LEG
        self.moving_leg = 0
        self.supporting_leg = 1
        self.supporting_knee_angle = self.p["support_knee"]

    def act(self, s):
        p = self.p
        moving_base = 4 + 5 * self.moving_leg
        support_base = 4 + 5 * self.supporting_leg

        hip_targ = [None, None]
        knee_targ = [None, None]
        hip_todo = [0.0, 0.0]
        knee_todo = [0.0, 0.0]

        if self.state == STAY_ON_ONE_LEG:
            hip_targ[self.moving_leg] = p["swing_hip"]
            knee_targ[self.moving_leg] = p["swing_knee"]
            self.supporting_knee_angle += 0.03
            if s[2] > p["speed"]:
                self.supporting_knee_angle += 0.03
            self.supporting_knee_angle = min(self.supporting_knee_angle, p["support_knee"])
            knee_targ[self.supporting_leg] = self.supporting_knee_angle
            if s[support_base] < 0.10:
                self.state = PUT_OTHER_DOWN

        if self.state == PUT_OTHER_DOWN:
            hip_targ[self.moving_leg] = p["down_hip"]
            knee_targ[self.moving_leg] = p["support_knee"]
            knee_targ[self.supporting_leg] = self.supporting_knee_angle
            if s[moving_base + 4]:
                self.state = PUSH_OFF
                self.supporting_knee_angle = min(s[moving_base + 2], p["support_knee"])

        if self.state == PUSH_OFF:
            knee_targ[self.moving_leg] = self.supporting_knee_angle
            knee_targ[self.supporting_leg] = p["push_knee"]
            if s[support_base + 2] > 0.88 or s[2] > 1.2 * p["speed"]:
                self.state = STAY_ON_ONE_LEG
                self.moving_leg = 1 - self.moving_leg
                self.supporting_leg = 1 - self.moving_leg

        for leg in (0, 1):
            base = 4 + 5 * leg
            if hip_targ[leg] is not None:
                hip_todo[leg] = p["hip_p"] * (hip_targ[leg] - s[base]) - p["hip_d"] * s[base + 1]
            if knee_targ[leg] is not None:
                knee_todo[leg] = p["knee_p"] * (knee_targ[leg] - s[base + 2]) - p["knee_d"] * s[base + 3]

            hip_todo[leg] -= p["hull_p"] * (0 - s[0]) - p["hull_d"] * s[1]
            knee_todo[leg] -= p["vy_damp"] * s[3]

        a = np.array([hip_todo[0], knee_todo[0], hip_todo[1], knee_todo[1]])
        return np.clip(p["out_scale"] * a, -1.0, 1.0).astype(np.float32)


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
    parser.add_argument("--env", default='BipedalWalker-v3', help="environment id")
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
