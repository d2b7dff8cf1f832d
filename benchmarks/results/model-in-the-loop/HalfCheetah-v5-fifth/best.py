"""Policy for HalfCheetah-v5, written by inbox:box.

Held-out mean return 1892.48 (95 % interval 1812.11 to 1958.48; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -280.1 (-334.8 to -231.6, 10 episodes), the zero action -0.0358 (-0.599 to 0.539, 10 episodes).
Better than the zero action: 1892 against -0.0358 (difference 1785 ± 247 over 10 shared episodes), but below the 4800 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r4c2t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

The tuned bounding clock; the front foot is a switch instead of a sine: full push while the front leg sweeps back, lifted
while it comes forward, after the start and while the pitch is in its usual band.
"""
import numpy as np

PARAMS = {
    "lift": (-0.651331, -1.0, -0.1),     # front foot's drive on the return
    "share": (0.977558, 0.3, 1.0),       # of the switch, the rest is the old sine
}
FREQ, LAG, THIGH, LOWER, LEAD, GAIN, GOAL = 3.95709, 5.05742, 1.0647, 0.655949, 1.29092, 1.95047, -0.488394


class Policy:
    def __init__(self, params):
        self.p = params
        self.use = 0.0
        self.t = 0

    def act(self, obs):
        pitch = float(obs[1])
        back = 2 * np.pi * FREQ * 0.05 * self.t
        front = back - LAG
        self.t += 1
        if pitch > 0.25 or pitch < -0.3:
            self.use = max(0.0, self.use - 0.5)
        elif self.t > 40:
            self.use = min(1.0, self.use + 0.05)
        nose_down = float(np.clip(GAIN * (pitch - GOAL), -0.9, 0.9))
        sine = LOWER * np.sin(front) + 0.4 * nose_down
        # smooth over the change of sign, as only five steps make a stride
        push = 0.5 + 0.5 * np.tanh(3.0 * (np.sin(front) + 0.2))
        switch = push + (1.0 - push) * self.p["lift"]
        w = self.use * self.p["share"]
        a = np.array([
            THIGH * np.sin(back),
            LOWER * np.sin(back - LEAD) + 0.8 * nose_down,
            LOWER * np.sin(back),
            THIGH * np.sin(front) - nose_down,
            LOWER * np.sin(front + LEAD) + 0.8 * nose_down,
            (1.0 - w) * sine + w * switch,
        ])
        self.debug = {"use": self.use, "foot": float(a[5])}
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
