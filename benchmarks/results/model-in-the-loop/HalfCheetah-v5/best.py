"""Policy for HalfCheetah-v5, written by inbox:box.

Held-out mean return 2245.18 (95 % interval 2229.3 to 2261.15; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -293.541 (-309.118 to -277.601, 100 episodes), the zero action -0.0358283 (-0.598932 to 0.539144, 10 episodes).
Better than the zero action: 2245 against -0.0358 (difference 2282 ± 24.4 over 10 shared episodes), but below the 4800 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r3c3 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Thigh modes switched by predicted thigh angles; shins and feet switch by predictions of their own, earlier
or later. Joint errors times gains are torques, pitch shifts the thighs. Positive thigh angle is leg back;
positive back-shin angle folds the back leg, negative front-shin angle folds the front leg; positive pitch
is nose down.
"""
import numpy as np

PARAMS = {
    "b_ahead": (0.081, 0.0, 0.14),     # s, prediction that switches the back thigh
    "b_shin_ahead": (0.081, 0.0, 0.25),
    "b_foot_ahead": (0.081, 0.0, 0.25),
    "f_ahead": (0.081, 0.0, 0.14),
    "f_shin_ahead": (0.081, 0.0, 0.25),
    "f_back": (0.0175, -0.4, 0.5),     # front thigh: end of stance
    "f_fore": (-0.896, -1.3, -0.3),    # front thigh: end of swing
    "couple": (0.324, -0.6, 1.0),      # back thigh angle's share in the front leg's switching
    "gain": (3.375, 1.0, 6.0),         # torque per rad of joint error
    "pitch_gain": (0.686, -0.5, 2.0),
    "speed_ahead": (0.0, -0.02, 0.02), # s per m/s, added to all predictions
}

LIMIT = 7  # steps a mode may last
B_BACK, B_FORE = 0.4, -0.295


class Mode:
    def __init__(self, stance):
        self.stance = stance
        self.age = 0

    def step(self, angle, fore, back):
        self.age += 1
        done = angle > back if self.stance else angle < fore
        if done or self.age > LIMIT:
            self.stance = not self.stance
            self.age = 0
        return self.stance


class Policy:
    def __init__(self, params):
        self.p = params
        self.bt, self.bs, self.bf = Mode(True), Mode(True), Mode(True)
        self.ft, self.fs = Mode(False), Mode(False)
        self.speed = 0.0

    def act(self, obs):
        p = self.p
        q = obs[2:8]
        dq = obs[11:17]
        self.speed += 0.1 * (float(np.clip(obs[8], -1.0, 7.0)) - self.speed)
        more = p["speed_ahead"] * self.speed

        def back(name):
            return q[0] + (p[name] + more) * dq[0]

        def front(name):
            return q[3] + (p[name] + more) * dq[3] + p["couple"] * back("b_ahead")

        bt = self.bt.step(back("b_ahead"), B_FORE, B_BACK)
        bs = self.bs.step(back("b_shin_ahead"), B_FORE, B_BACK)
        bf = self.bf.step(back("b_foot_ahead"), B_FORE, B_BACK)
        ft = self.ft.step(front("f_ahead"), p["f_fore"], p["f_back"])
        fs = self.fs.step(front("f_shin_ahead"), p["f_fore"], p["f_back"])

        target = np.array([
            B_BACK + 0.3 if bt else B_FORE - 0.3,
            -0.368 if bs else 0.241,
            0.4 if bf else -0.2,
            p["f_back"] + 0.3 if ft else p["f_fore"] - 0.3,
            0.368 if fs else -0.241,
            0.4 if ft else -0.3,
        ])
        u = np.clip(p["gain"] * (target - q) + 0.0016 * dq, -1.0, 1.0)
        pitch = float(np.clip(obs[1], -1.0, 1.0))
        rate = float(np.clip(obs[10], -6.0, 6.0))
        hold = p["pitch_gain"] * pitch - 0.023 * rate
        u[0] += hold
        u[3] += hold
        return np.clip(u, -1.0, 1.0).astype(np.float32)


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
