"""Policy for benchmarks.environments:promptpo/Glucose-v0, written by inbox:box.

Held-out mean return 285.715 (95 % interval 285.449 to 285.96; 30 episodes, seeds 20000000 to 20000029).
On the same seeds random actions earn 4.23 (3.93 to 4.53, 30 episodes), the zero action -22 (-38.3 to -6.4, 30 episodes).
Better than random actions: 285.7 against 4.23 (difference 281.49 ± 0.21 over 30 shared episodes).
Candidate r3c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

A little insulin shortly before the usual meal hours; basal + meal bolus + gentle feedback on filtered glucose less what insulin on board will still do; the night's integral scales the boluses to the day's sensitivity.
"""
import numpy as np

PARAMS = {
    "basal": (0.0152, 0.01, 0.022),   # U/min
    "target": (112.0, 100.0, 125.0),  # mg/dL
    "ratio": (10.0, 6.0, 16.0),       # g per U
    "super": (1.0, 0.0, 4.0),         # U given more at a meal and taken from the basal afterwards
    "kp": (0.00025, 0.0, 0.002),      # U/min per mg/dL
    "kd": (0.0006, 0.0, 0.006),       # U/min per mg/dL per 5 min
    "ki": (0.000004, 0.0, 0.00004),   # U/min per mg/dL and step, before the first meal
    "sens": (12.0, 0.0, 40.0),        # mg/dL per U of surplus insulin on board
    "filter": (0.35, 0.1, 1.0),
    "scale": (0.7, 0.0, 2.0),         # how strongly the night's basal scales the boluses
    "quiet": (24.0, 0.0, 48.0),       # steps after a meal in which high glucose is left to the bolus
    "pre": (0.7, 0.0, 3.0),           # U given ahead of each meal, taken off its bolus
    "share": (0.3, 0.0, 1.0),         # share of the feedback that is left then
}


class Policy:
    def __init__(self, params):
        self.p = params
        self.g = None
        self.slope = 0.0
        self.integral = 0.0
        self.factor = 1.0
        self.left = 0.0
        self.debt = 0.0
        self.since = 999
        self.meals = 0
        self.given = 0.0
        self.ahead = -1

    def act(self, obs):
        p = self.p
        g, carbs, iob = float(obs[0]), float(obs[2]), float(obs[4])
        old = g if self.g is None else self.g
        self.g = old + p["filter"] * (g - old)
        self.slope += 0.3 * ((self.g - old) - self.slope)
        self.since += 1
        if self.meals == 0:
            self.integral = float(np.clip(self.integral + p["ki"] * (self.g - p["target"]), -0.006, 0.006))
        k = self.meals
        if k < 3 and self.ahead < k and carbs == 0 and float(obs[5]) >= (7.1, 12.0, 18.9)[k] and self.g > 100:
            self.ahead = k
            self.left += p["pre"]
            self.given = p["pre"]
        if carbs > 0:
            if self.meals == 0:
                self.factor = float(np.clip(1.0 + p["scale"] * self.integral / p["basal"], 0.6, 1.5))
            self.meals += 1
            self.since = 0
            self.left += max(0.0, self.factor * carbs / p["ratio"] + 0.3 * (self.g - p["target"]) / 20.0 - self.given) + p["super"]
            self.given = 0.0
            self.debt += p["super"]
        dose = min(self.left, 4.9)
        self.left -= dose
        basal = p["basal"] + self.integral
        surplus = max(0.0, iob - 60.0 * basal)
        error = self.g - p["target"]
        if self.since < p["quiet"]:
            error = p["share"] * error if error > 0 else error
            feedback = p["kp"] * error
        else:
            feedback = p["kp"] * (error - p["sens"] * surplus) + p["kd"] * self.slope
        u = max(0.0, basal + feedback)
        if self.since > 1 and self.debt > 0:
            cut = min(u, self.debt / 5.0)
            u -= cut
            self.debt -= 5.0 * cut
        if g < 75 and self.slope < 0:
            u = 0.0
        self.debug = {"gf": self.g, "factor": self.factor, "fb": feedback}
        return np.array([np.clip(u + dose / 5.0, 0.0, 1.0)], dtype=np.float32)


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

    action = np.asarray(action, dtype=np.float32).reshape((1,))
    return np.clip(action, np.float32(0.0), np.float32(1.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='benchmarks.environments:promptpo/Glucose-v0', help="environment id")
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
