"""Policy for HalfCheetah-v5, written by inbox:box.

Held-out mean return 2614.14 (95 % interval 2599.7 to 2629.66; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -293.541 (-309.118 to -277.601, 100 episodes), the zero action -0.241042 (-0.385926 to -0.0933894, 100 episodes).
Better than the zero action: 2614 against -0.241 (difference 2614 ± 7.84 over 100 shared episodes), but below the 4800 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r3c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Rocking feedback on pitch and its rate, with the clock only as a starter that fades out.

Pitch obs[1] + is nose down, rate obs[10]. Front leg: joints + = back and down. Rear leg: thigh + = push, shin + = fold.
"""
import numpy as np

PARAMS = {
    "pitch0": (0.399949, -0.4, 0.8),
    "k_front_p": (4.12093, -4.0, 8.0),
    "k_front_d": (0.366556, -0.6, 0.8),
    "k_rear_p": (-2.80429, -8.0, 4.0),
    "k_rear_d": (-0.56, -1.2, 0.6),
    "hip_angle": (-1.88852, -4.0, 2.0),
    "hip_rate": (-0.00726861, -0.1, 0.25),
    "fold": (0.111671, -0.05, 0.25),
    "front_shin": (1.26296, -0.5, 2.0),
    "front_foot": (0.430007, -0.5, 1.5),
    "rear_bias": (0.258248, -0.5, 0.8),
    "front_bias": (0.255137, -0.5, 0.8),
    "start_period": (5.34134, 4.0, 10.0),
    "start_amp": (0.704345, 0.0, 1.2),
    "start_steps": (25.0, 5.0, 80.0),   # the clock fades over these
}


class Policy:
    def __init__(self, params):
        self.p = params
        self.t = 0
        self.r = 0.0
        self.f = 0.0

    def act(self, obs):
        p = self.p
        e = float(obs[1]) - p["pitch0"]
        rate = float(obs[10])
        amp = p["start_amp"] * max(0.0, 1.0 - self.t / p["start_steps"])
        c = amp * np.sin(2 * np.pi * self.t / p["start_period"])
        self.t += 1
        rear = (p["k_rear_p"] * e + p["k_rear_d"] * rate + p["hip_angle"] * (obs[2] - 0.1)
                + p["hip_rate"] * obs[11] + c + p["rear_bias"])
        front = (p["k_front_p"] * e + p["k_front_d"] * rate + p["hip_angle"] * (obs[5] + 0.1)
                 + p["hip_rate"] * obs[14] - c + p["front_bias"])
        rear, front = float(np.clip(rear, -1, 1)), float(np.clip(front, -1, 1))
        a = np.array([
            rear,
            -p["fold"] * obs[11],
            0.0,
            front,
            p["front_shin"] * front,
            p["front_foot"] * front,
        ])
        self.debug = {"vx": round(float(obs[8]), 1), "rear": round(rear, 2), "front": round(front, 2)}
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
