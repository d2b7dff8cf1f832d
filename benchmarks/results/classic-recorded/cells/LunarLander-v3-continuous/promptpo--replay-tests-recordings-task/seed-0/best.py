"""Policy for LunarLander-v3 {"continuous": true}, written by replay:LunarLander-v3-continuous.

Held-out mean return 284.628 (95 % interval 281.231 to 287.78; 100 episodes, seeds 20000000 to 20000099).
Candidate r1c1 of run seed-0, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0
"""
import numpy as np

PARAMS = {
    "angle_pos": (0.5, 0.0, 2.0),
    "angle_vel": (1.0, 0.0, 3.0),
    "angle_max": (0.4, 0.1, 1.0),
    "hover_x": (0.55, 0.0, 1.5),
    "angle_p": (0.5, 0.1, 3.0),
    "angle_d": (1.0, 0.1, 3.0),
    "hover_p": (0.5, 0.1, 3.0),
    "hover_d": (0.5, 0.1, 3.0),
    "main_scale": (20.0, 1.0, 60.0),
    "main_bias": (-1.0, -2.0, 0.5),
    "side_scale": (20.0, 1.0, 60.0),
}


class Policy:
    def __init__(self, params):
        self.params = params

    def act(self, obs):
        p = self.params
        angle_targ = obs[0] * p["angle_pos"] + obs[2] * p["angle_vel"]
        angle_targ = float(np.clip(angle_targ, -p["angle_max"], p["angle_max"]))
        hover_targ = p["hover_x"] * abs(obs[0])

        angle_todo = (angle_targ - obs[4]) * p["angle_p"] - obs[5] * p["angle_d"]
        hover_todo = (hover_targ - obs[1]) * p["hover_p"] - obs[3] * p["hover_d"]

        if obs[6] or obs[7]:
            angle_todo = 0.0
            hover_todo = -obs[3] * p["hover_d"]

        action = np.array([hover_todo * p["main_scale"] + p["main_bias"], -angle_todo * p["side_scale"]])
        return np.clip(action, -1, 1).astype(np.float32)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    return Policy({name: value[0] for name, value in PARAMS.items()})


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
    parser.add_argument("--env", default='LunarLander-v3', help="environment id")
    parser.add_argument("--env-kwargs", default='{"continuous": true}', type=json.loads, help="JSON")
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
