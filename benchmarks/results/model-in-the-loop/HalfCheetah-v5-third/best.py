"""Policy for HalfCheetah-v5, written by inbox:box.

Held-out mean return 1853.27 (95 % interval 1636.63 to 2043.61; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn -291.9 (-312.6 to -270.2, 50 episodes), the zero action -0.257 (-0.455 to -0.0522, 50 episodes).
Better than the zero action: 1853 against -0.257 (difference 1854 ± 109 over 50 shared episodes), but below the 4800 that counts as solved. The step budget ended after 3 of 4 rounds: go on with promptpo resume and more --max-steps.
Candidate r3c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Leg state machines switched by thigh angle, both thighs working 0.1 rad further forward than before (measured: 1.99 against 1.6 a step); all else as tuned.
"""
import numpy as np

PARAMS = {
    "hi": (np.array([0.1216, -0.0506]), -0.3, 0.7),    # rad, back and front thigh: end of stance
    "lo": (np.array([-0.2573, -0.4136]), -0.8, 0.0),  # rad: end of swing
    "push": (np.array([0.8316, 0.7880]), 0.2, 1.3),    # thigh torque in stance
    "swing": (np.array([-0.8308, -0.8817]), -1.3, -0.2),
    "shin_st": (np.array([-0.2477, 0.3183]), -1.2, 1.2),  # set-points, rad
    "shin_sw": (np.array([0.2947, -1.1481]), -1.2, 1.2),
    "foot_st": (np.array([0.5779, 0.5963]), -1.0, 1.0),
    "foot_sw": (np.array([-0.3128, -0.6592]), -1.0, 1.0),
    "k": (0.823341, 0.2, 4.0),
    "kv": (0.0229156, -0.25, 0.15),
    "kp": (0.793101, -1.0, 2.5),
    "kd": (0.0713392, -0.3, 0.5),
    "pitch0": (0.0180221, -0.3, 0.3),
    "link": (0.133436, -0.3, 0.3),  # the front leg's limits move with the back leg's state
    "longest": (5.08852, 2.5, 9.0),  # steps in one state
}


class Policy:
    def __init__(self, params):
        self.p = params
        self.state = [1, -1]  # back in stance, front in swing
        self.since = [0, 0]

    def act(self, obs):
        p = self.p
        pitch = np.arctan2(np.sin(obs[1]), np.cos(obs[1])) - p["pitch0"]
        fix = p["kp"] * np.clip(pitch, -1, 1) + p["kd"] * np.clip(obs[10], -6, 6)
        a = np.zeros(6)
        for leg in (0, 1):
            i = 3 * leg
            q, w = obs[2 + i:5 + i], obs[11 + i:14 + i]
            shift = p["link"] * self.state[0] if leg == 1 else 0.0
            ahead = q[0] + 0.02 * w[0]  # where it will be in a moment
            self.since[leg] += 1
            late = self.since[leg] >= p["longest"]
            if self.state[leg] == 1 and (ahead > p["hi"][leg] + shift or late):
                self.state[leg], self.since[leg] = -1, 0
            elif self.state[leg] == -1 and (ahead < p["lo"][leg] + shift or late):
                self.state[leg], self.since[leg] = 1, 0
            st = self.state[leg] == 1
            a[i] = (p["push"] if st else p["swing"])[leg] + fix
            shin = (p["shin_st"] if st else p["shin_sw"])[leg]
            foot = (p["foot_st"] if st else p["foot_sw"])[leg]
            a[i + 1] = p["k"] * (shin - q[1]) - p["kv"] * w[1]
            a[i + 2] = p["k"] * (foot - q[2]) - p["kv"] * w[2]
        a = np.clip(a, -1, 1)
        self.debug = {"back": self.state[0], "front": self.state[1], "fix": round(float(fix), 2)}
        return a.astype(np.float32)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    import numpy as np

    policy = Policy({name: np.array(value[0], dtype=float) if np.ndim(value[0]) else value[0] for name, value in PARAMS.items()})
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
