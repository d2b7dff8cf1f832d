"""Policy for HalfCheetah-v5, written by inbox:box.

Held-out mean return 1146.46 (95 % interval 1143.52 to 1149.51; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn -280.1 (-334.8 to -231.6, 10 episodes), the zero action -0.257 (-0.455 to -0.0522, 50 episodes).
Better than the zero action: 1146 against -0.257 (difference 1146.7 ± 1.6 over 50 shared episodes), but below the 4800 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r1c2t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Sine torques from one clock, seven numbers. Thigh + = leg back; back shin flexes with +, front shin with -, so their signs are opposite; nose down (pitch +) adds + thigh torque.
"""
import numpy as np

PARAMS = {
    "P": (10.455, 4.0, 12.0),
    "amp": (0.476174, 0.4, 1.6),
    "shin_lag": (-0.142894, -0.25, 0.75),
    "foot_lag": (0.110873, -0.5, 0.5),
    "front_lag": (0.478992, 0.0, 1.0),
    "k_pitch": (0.30421, -1.0, 3.0),
    "k_rate": (-0.0322509, -0.3, 0.5),
    "extend": (0.38412, -0.5, 0.6),
}

class Policy:
    def __init__(self, params):
        self.p = params
        self.t = 0

    def act(self, obs):
        p = self.p
        s = lambda lag: p["amp"] * np.sin(2 * np.pi * (self.t / p["P"] - lag))
        pitch = np.clip((obs[1] + np.pi) % (2 * np.pi) - np.pi, -1, 1)
        lift = p["k_pitch"] * pitch + p["k_rate"] * np.clip(obs[10], -5, 5)
        f = p["front_lag"]
        a = np.array([
            s(0) + lift,
            s(p["shin_lag"]) - p["extend"],
            s(p["foot_lag"]),
            s(f) + lift,
            -s(f + p["shin_lag"]) + p["extend"],
            s(f + p["foot_lag"]),
        ])
        self.t += 1
        return np.clip(a, -1, 1).astype(np.float32)


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
