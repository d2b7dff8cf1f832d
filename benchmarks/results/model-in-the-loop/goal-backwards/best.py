"""Policy for HalfCheetah-v5 with the reward written for the goal (ac705b75), written by inbox:box.

Held-out mean return 2242.33 (95 % interval 2083.3 to 2352.38; 100 episodes, seeds 20000000 to 20000099).
Success in 0% of them.
On the same seeds random actions earn -344.3 (-514 to -191.8, 100 episodes), the zero action 0.241 (0.0934 to 0.386, 100 episodes).
Better than the zero action: 2242 against 0.241 (difference 2242 ± 74 over 100 shared episodes). No episode of any policy succeeded. To help, say in words how the task is done (--hint), or raise --max-steps.
Candidate r2c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Relay: the front thigh swings back until HI, then pushes forwards until LO; the back leg steps with it on all its joints.

Swing (thigh +, feet lifted: back shin +, front shin -), push (thigh -, legs long). + on either shin turns the nose up,
which corrects the pitch (+ is nose down); beyond `stop` all strokes cease and only the pitch is corrected.
"""
import numpy as np

PARAMS = {
    "hi": (0.321809, 0.0, 0.9),      # front thigh angle, rad, at which the push begins
    "lo": (-0.225101, -1.0, 0.2),     # and ends
    "front": (1.0, 0.3, 1.0),    # stroke of the front thigh
    "back": (0.85, -1.0, 1.0),    # stroke of the back thigh
    "back_lift": (0.85, 0.0, 1.2),   # stroke of the back shin
    "back_foot": (0.5, -1.0, 1.0),   # stroke of the back foot, with the thigh
    "back_rest": (0.1, -0.4, 0.5),   # the back shin's mean
    "lift": (0.670323, 0.0, 1.0),     # stroke of the front shin
    "pitch_gain": (2.13242, 0.0, 6.0),
    "rate_gain": (0.000540289, 0.0, 1.0),
    "stop": (0.658372, 0.25, 1.1),   # rad of foreseen pitch
}

LONGEST = 8  # steps in one direction


class Policy:
    def __init__(self, params):
        self.p = params
        self.side = 1.0   # +1 swing back, -1 push
        self.held = 0

    def act(self, obs):
        p = self.p
        pitch, rate = float(obs[1]), float(obs[10])
        thigh = float(obs[5]) + 0.03 * float(obs[14])  # where it will be in about half a step
        self.held += 1
        if self.held > LONGEST or (self.side > 0 and thigh > p["hi"]) or (self.side < 0 and thigh < p["lo"]):
            self.side, self.held = -self.side, 0

        fix = p["pitch_gain"] * pitch + p["rate_gain"] * rate
        go = 1.0 if abs(pitch + 0.1 * rate) < p["stop"] else 0.0
        s = self.side * go
        action = np.array([
            p["back"] * s,
            p["back_rest"] + p["back_lift"] * s + fix,   # + lifts
            p["back_foot"] * s,
            p["front"] * s,
            -p["lift"] * s + fix,              # front leg: - lifts
            0.3 * fix,
        ])
        self.debug = {"side": self.side, "go": go, "pitch": round(pitch, 2), "vx": round(float(obs[8]), 2)}
        return np.clip(action, -1.0, 1.0).astype(np.float32)


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
