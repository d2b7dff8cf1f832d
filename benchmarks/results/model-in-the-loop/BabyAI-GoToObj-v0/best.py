"""Policy for minigrid:BabyAI-GoToObj-v0, written by inbox:box.

Held-out mean return 0.929125 (95 % interval 0.9145 to 0.9415; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn 0.158 (0.0792 to 0.252, 50 episodes), the zero action 0 (0 to 0, 50 episodes).
Better than random actions: 0.929 against 0.158 (difference 0.771 ± 0.042 over 50 shared episodes).
Candidate r1c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Forward until level with the object, one turn, forward. Unseen: turn towards the roomier side, three looks, then some steps ahead.
"""
import numpy as np

PARAMS = {"looks": (3.0, 1.0, 4.0), "walk": (2.0, 1.0, 4.0)}

OBJ = {"key": 5, "ball": 6, "box": 7}
COL = {"red": 0, "green": 1, "blue": 2, "purple": 3, "yellow": 4, "grey": 5}


class Policy:
    def __init__(self, params):
        self.looks = int(round(params["looks"]))
        self.walk = int(round(params["walk"]))
        self.turn = None
        self.turned = 0
        self.walked = 0

    def act(self, obs):
        im = obs["image"]
        words = obs["mission"].split()
        kind = next((OBJ[w] for w in words if w in OBJ), -1)
        colour = next((COL[w] for w in words if w in COL), -1)
        where = np.argwhere((im[:, :, 0] == kind) & (im[:, :, 1] == colour))
        if len(where):
            dx, dy = int(where[0][0]) - 3, 6 - int(where[0][1])
            self.debug = {"dx": dx, "dy": dy}
            if dy > 0:
                return 2
            return 1 if dx > 0 else 0
        self.debug = {"turned": self.turned, "walked": self.walked}
        if self.turn is None:  # away from the wall that is near on one side
            self.turn = 1 if (im[:3, 6, 0] == 2).any() else 0
        if self.turned < self.looks:
            self.turned += 1
            return self.turn
        if self.walked < self.walk and im[3, 5, 0] == 1:
            self.walked += 1
            return 2
        self.turned, self.walked = 1, 0
        return self.turn


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
    parser.add_argument("--env", default='minigrid:BabyAI-GoToObj-v0', help="environment id")
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
