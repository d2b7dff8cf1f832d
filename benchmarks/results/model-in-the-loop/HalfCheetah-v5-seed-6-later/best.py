"""Policy for HalfCheetah-v5, written by inbox:box.

Held-out mean return 582.377 (95 % interval 512.803 to 645.462; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -293.5 (-309.1 to -277.6, 100 episodes), the zero action -0.241 (-0.386 to -0.0934, 100 episodes).
Better than the zero action: 582.4 against -0.241 (difference 583 ± 33 over 100 shared episodes), but below the 4800 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r2c4t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Phase oscillator with anatomically signed phases and pitch feedback.
Stance = thigh angle rising (toe sweeps back): back shin negative, front shin positive, feet positive; swing the reverse.
All joints lag their torque alike (about 2 steps), so relative torque phases are relative angle phases.
"""
import math
import numpy as np

PARAMS = {
    "period": (5.11826, 3.6, 8.0),          # steps per stride
    "front": (5.0829, 0.8, 5.4),           # front leg phase against back leg, rad
    "bshin_ph": (-2.53855, -2.6, -0.6), "bfoot_ph": (-0.209761, -0.6, 1.8),
    "fshin_ph": (1.38039, 0.4, 2.4), "ffoot_ph": (1.10461, -0.2, 2.2),
    "square": (5.8852, 0.5, 6.0),
    "bthigh_amp": (1.26359, 0.4, 1.3), "bshin_amp": (0.461628, 0.1, 1.3), "bfoot_amp": (0.375518, 0.0, 1.3),
    "fthigh_amp": (0.748398, 0.3, 1.3), "fshin_amp": (0.117967, 0.0, 1.3), "ffoot_amp": (0.607225, 0.0, 1.3),
    "bthigh_b": (0.322977, -0.5, 0.5), "bshin_b": (-0.475864, -0.5, 0.5),
    "fthigh_b": (0.155244, -0.5, 0.5), "fshin_b": (-0.0500702, -0.4, 0.7),
    "kp": (0.547497, 0.0, 4.0), "kd": (0.0962069, -0.1, 0.3), "pitch0": (0.0469206, -0.4, 0.4),
}


class Policy:
    def __init__(self, params):
        self.p = params
        self.phase = 0.0

    def act(self, obs):
        p = self.p
        self.phase += 2 * math.pi / p["period"]
        s = p["square"]
        norm = math.tanh(s)

        def wave(ph):
            return math.tanh(s * math.sin(self.phase + ph)) / norm

        e = float(np.clip(obs[1] - p["pitch0"], -0.8, 0.8))
        fix = p["kp"] * e + p["kd"] * obs[10]
        f = p["front"]
        a = np.array([
            p["bthigh_amp"] * wave(0.0) + p["bthigh_b"],
            p["bshin_amp"] * wave(p["bshin_ph"]) + p["bshin_b"] + fix,
            p["bfoot_amp"] * wave(p["bfoot_ph"]),
            p["fthigh_amp"] * wave(f) + p["fthigh_b"],
            p["fshin_amp"] * wave(f + p["fshin_ph"]) + p["fshin_b"] + fix,
            p["ffoot_amp"] * wave(f + p["ffoot_ph"]),
        ])
        self.debug = {"phase": self.phase % (2 * math.pi), "fix": fix}
        return np.clip(a, -1, 1)


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
