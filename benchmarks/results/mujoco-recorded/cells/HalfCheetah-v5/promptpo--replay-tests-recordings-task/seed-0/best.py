"""Policy for HalfCheetah-v5, written by replay:HalfCheetah-v5.

Held-out mean return 1709.27 (95 % interval 1654.63 to 1761.89; 20 episodes, seeds 20000000 to 20000019).
Candidate r1c1t of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import math
import numpy as np

PARAMS = {
    # clock
    "freq": (4.07405, 1.0, 5.0),
    "phase0": (0.0418728, -3.1416, 3.1416),
    # PD tracking
    "kp_thigh": (2.37294, 0.2, 5.0),
    "kp_shin": (2.05505, 0.2, 5.0),
    "kp_foot": (1.15423, 0.2, 5.0),
    "kd": (0.036581, 0.0, 0.3),
    # joint offsets (rad)
    "off_bthigh": (-0.471354, -0.5, 0.9),
    "off_bshin": (-0.413406, -0.7, 0.7),
    "off_bfoot": (-0.122121, -0.4, 0.7),
    "off_fthigh": (-0.557882, -0.9, 0.6),
    "off_fshin": (0.778379, -1.1, 0.8),
    "off_ffoot": (-0.230008, -0.5, 0.5),
    # joint amplitudes (rad)
    "amp_bthigh": (0.828464, 0.0, 1.2),
    "amp_bshin": (0.318796, 0.0, 1.2),
    "amp_bfoot": (0.326172, 0.0, 1.0),
    "amp_fthigh": (0.0382063, 0.0, 1.2),
    "amp_fshin": (0.482519, 0.0, 1.2),
    "amp_ffoot": (0.473134, 0.0, 1.0),
    # joint phases relative to the clock (rad)
    "ph_bthigh": (0.0301653, -3.1416, 3.1416),
    "ph_bshin": (0.490227, -3.1416, 3.1416),
    "ph_bfoot": (2.35731, -3.1416, 3.1416),
    "ph_fthigh": (3.04949, -3.1416, 3.1416),
    "ph_fshin": (2.57355, -3.1416, 3.1416),
    "ph_ffoot": (1.6759, -3.1416, 3.1416),
    # posture feedback
    "pitch_ref": (-0.212506, -0.5, 0.5),
    "k_pitch_b": (1.86578, -2.0, 2.0),
    "k_pitch_f": (-0.627738, -2.0, 2.0),
    "k_rate_b": (0.223721, -0.4, 0.4),
    "k_rate_f": (-0.197214, -0.4, 0.4),
    # start-up ramp of the amplitude (s)
    "ramp": (0.130176, 0.05, 1.5),
}

JOINTS = ["bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot"]
DT = 0.05


class Policy:
    def __init__(self, params):
        self.p = params
        p = params
        self.off = np.array([p["off_" + j] for j in JOINTS])
        self.amp = np.array([p["amp_" + j] for j in JOINTS])
        self.ph = np.array([p["ph_" + j] for j in JOINTS])
        self.kp = np.array([p["kp_thigh"], p["kp_shin"], p["kp_foot"]] * 2)
        self.reset()

    def reset(self):
        self.t = 0.0
        self.phase = self.p["phase0"]

    def act(self, obs):
        p = self.p
        obs = np.asarray(obs, dtype=float)
        pitch = obs[1]
        q = obs[2:8]
        rate = obs[10]
        qd = obs[11:17]

        ramp = min(1.0, self.t / max(p["ramp"], 1e-3) + 0.1)
        target = self.off + ramp * self.amp * np.sin(self.phase + self.ph)
        u = self.kp * (target - q) - p["kd"] * qd

        e = pitch - p["pitch_ref"]
        u[0] += p["k_pitch_b"] * e + p["k_rate_b"] * rate
        u[3] += p["k_pitch_f"] * e + p["k_rate_f"] * rate

        self.t += DT
        self.phase = (self.phase + 2.0 * math.pi * p["freq"] * DT) % (2.0 * math.pi)
        return np.clip(u, -1.0, 1.0).astype(np.float32)


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
    parser.add_argument("--env", default='HalfCheetah-v5', help="environment id")
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
