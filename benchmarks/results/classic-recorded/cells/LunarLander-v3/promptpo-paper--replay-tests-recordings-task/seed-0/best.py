"""Policy for LunarLander-v3, written by replay:LunarLander-v3.

Held-out mean return 265.613 (95 % interval 255.7 to 272.113; 100 episodes, seeds 20000000 to 20000099).
Candidate r1c2 of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

PARAMS = {
    "kx": (0.6, 0.1, 2.0),
    "kvx": (1.1, 0.1, 3.0),
    "max_tilt": (0.35, 0.1, 0.8),
    "k_att": (1.0, 0.2, 4.0),
    "k_rate": (1.2, 0.1, 4.0),
    "vy_per_y": (0.45, 0.1, 1.5),
    "vy_min": (0.10, 0.02, 0.4),
    "vy_far_penalty": (0.3, 0.0, 1.0),
    "att_dead": (0.06, 0.0, 0.3),
    "emergency_angle": (0.5, 0.2, 1.2),
}

NOOP, LEFT, MAIN, RIGHT = 0, 1, 2, 3


class LanderState(NamedTuple):
    x: float
    y: float
    vx: float
    vy: float
    angle: float
    omega: float
    left_leg: bool
    right_leg: bool


def parse(obs) -> LanderState:
    vals = [float(v) for v in obs[:6]]
    return LanderState(*vals, bool(obs[6] > 0.5), bool(obs[7] > 0.5))


class Policy:
    def __init__(self, params: dict[str, float]):
        self.__dict__.update(params)
        self.settled = 0

    def reset(self) -> None:
        self.settled = 0

    # ------------------------------------------------------------------ #
    def _desired_tilt(self, s: LanderState) -> float:
        tilt = self.kx * s.x + self.kvx * s.vx
        return max(-self.max_tilt, min(self.max_tilt, tilt))

    def _desired_vy(self, s: LanderState) -> float:
        speed = self.vy_min + self.vy_per_y * max(0.0, s.y)
        # far from the pad at low altitude: slow down
        if abs(s.x) > 0.3 and s.y < 0.5:
            speed *= self.vy_far_penalty
        return -speed

    def act(self, obs) -> int:
        s = parse(obs)

        # touchdown
        if s.left_leg and s.right_leg:
            self.settled += 1
            if s.vy < -0.15:
                return MAIN
            return NOOP

        if s.left_leg or s.right_leg:
            if s.vy < -0.1:
                return MAIN
            return NOOP

        tilt_err = self._desired_tilt(s) - s.angle
        attitude_cmd = self.k_att * tilt_err - self.k_rate * s.omega

        # emergency: right the ship first
        if abs(s.angle) > self.emergency_angle:
            return LEFT if attitude_cmd > 0 else RIGHT

        need_thrust = s.vy < self._desired_vy(s)
        need_rotate = abs(attitude_cmd) > self.att_dead

        if need_thrust and abs(attitude_cmd) < 0.35:
            return MAIN
        if need_rotate:
            return LEFT if attitude_cmd > 0 else RIGHT
        if need_thrust:
            return MAIN
        return NOOP


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
    return action


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='LunarLander-v3', help="environment id")
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
