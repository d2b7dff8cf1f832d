"""Policy for ale_py:ALE/Pong-v5, written by inbox:box.

Held-out mean return 0.2 (95 % interval 0 to 0.6; 5 episodes, seeds 20000000 to 20000004).
On the same seeds random actions earn -9.6 (-12.2 to -7, 5 episodes), the zero action -13 (-13 to -13, 5 episodes).
Better than random actions: 0.2 against -9.6 (difference 9.8 ± 1.6 over 5 shared episodes).
Candidate r2c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Impulse if the ball's meeting row is out of reach of the paddle's stopping row; with time left, impulses also away from flat contacts.
"""
import numpy as np

PARAMS = {
    "band": (8.8, 5.0, 12.0),   # rows; contact needs less than 10
    "low": (3.5, 0.0, 7.0),     # closer to the middle the return is flat
    "time": (14.0, 8.0, 24.0),  # steps before contact that another draw needs
    "stop": (14.0, 6.0, 20.0),  # rows the paddle still goes after a step of an action
}

class Policy:
    def __init__(self, params):
        self.p = params
        self.ball = self.pad = None
        self.last = 0

    def perceive(self, obs):
        f = obs[34:194].astype(int)
        code = f[..., 0] * 65536 + f[..., 1] * 256 + f[..., 2]
        values, counts = np.unique(code, return_counts=True)
        m = code != values[counts.argmax()]
        ys = np.nonzero(m[:, 140:144].sum(1) >= 3)[0]
        pad = 34 + float(ys.min() + ys.max()) / 2 if len(ys) else None
        m[:, 140:144] = False
        m[:, 16:20] = False
        ys, xs = np.nonzero(m)
        ball = (34 + float(ys.mean()), float(xs.mean())) if 0 < len(ys) < 40 else None
        return {"ball": ball, "pad": pad}

    def act(self, obs):
        s = self.perceive(obs)
        ball, pad, old, oldpad = s["ball"], s["pad"], self.ball, self.pad
        self.ball, self.pad = ball, pad
        if pad is None:
            self.last = 0
            return 0
        v = pad - oldpad if oldpad is not None else 0.0
        rest = pad + {2: -self.p["stop"], 3: self.p["stop"]}.get(self.last, 0.4 * v)
        goal, band, n = 114.0, 18.0, 0.0
        if ball and old and 0.5 < ball[1] - old[1] < 20 and ball[1] < 139:
            n = (138.0 - ball[1]) / (ball[1] - old[1])
            y = (ball[0] + (138.0 - ball[1]) / (ball[1] - old[1]) * (ball[0] - old[0]) - 35.5) % 313.0
            goal, band = 35.5 + min(y, 313.0 - y), self.p["band"]
        e = goal - rest
        quiet = self.last == 0 and abs(v) <= 4
        self.last = 2 if e < -band else 3 if e > band else 0
        if self.last == 0 and n > self.p["time"] and quiet and abs(e) < self.p["low"]:
            self.last = 2 if e > 0 else 3  # 23 rows away; the way back is another draw
        self.debug = {"goal": round(goal), "rest": round(rest)}
        return self.last


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
    parser.add_argument("--env", default='ale_py:ALE/Pong-v5', help="environment id")
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
