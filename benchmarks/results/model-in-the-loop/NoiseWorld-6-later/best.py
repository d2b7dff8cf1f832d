"""Policy for promptpo/NoiseWorld-6-v0, written by inbox:box.

Held-out mean return 953.61 (95 % interval 930.609 to 966.63; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -53068 (-63060 to -43077, 100 episodes), the zero action -100 (-100 to -100, 100 episodes).
Better than the zero action: 953.6 against -100 (difference 1054 ± 11 over 100 shared episodes).
Candidate r3c3 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Fetch kind 6 at (6, 0), hand it in on kind 7 at (6, 2), then right along row 5 to the goal, which then pays 999.
The only unsure steps are those from kind 2: the start (3, 1) and (6, 1), tried at least once each way; a failure puts the
walker back on the start. redo > 0.5: such a throw back loses what was fetched, so it is fetched again.
"""
PARAMS = {"redo": (0.3, 0.0, 1.0)}
UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3
START, SIX, SEVEN = (3, 1), (6, 0), (6, 2)


class Policy:
    def __init__(self, params):
        self.redo = float(params["redo"]) > 0.5
        self.stage = 0  # 0: to (6, 0); 1: to (6, 2); 2: to the goal
        self.t = 0
        self.debug = {}

    def act(self, obs):
        r, c, goal_r, goal_c = (int(round(float(x) * 9)) for x in obs[:4])
        p = (r, c)
        if self.redo and self.t > 0 and p == START:
            self.stage = 0
        self.t += 1
        if self.stage == 0 and p == SIX:
            self.stage = 1
        elif self.stage == 1 and p == SEVEN:
            self.stage = 2
        self.debug = {"stage": self.stage, "r": r, "c": c}
        if self.stage < 2:
            if r == 6 and c <= 2:
                return LEFT if self.stage == 0 else RIGHT
            if c < 2:
                return RIGHT  # onto sure ground
            if c > 2:
                return LEFT
            return DOWN if r < 6 else UP
        if c < 2:
            return RIGHT
        if r > goal_r:
            return UP
        if r < goal_r:
            return DOWN
        return RIGHT if c < goal_c else LEFT


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
    """What the policy returned, as the environment wants it."""
    import numpy as np

    return int(np.asarray(action).item())


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='promptpo/NoiseWorld-6-v0', help="environment id")
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
