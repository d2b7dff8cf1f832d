"""Policy for HalfCheetah-v5, written by inbox:box.

Held-out mean return 1898.4 (95 % interval 1888.77 to 1908.14; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn -291.9 (-312.6 to -270.2, 50 episodes), the zero action -0.257 (-0.455 to -0.0522, 50 episodes).
Better than the zero action: 1898 against -0.257 (difference 1898.7 ± 4.8 over 50 shared episodes), but below the 4800 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r4c3t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

A squashed linear map from the observation and a clock's sine and cosine: first guess from p3.1's second episode, feedback from every joint, height, speed and pitch through few shared gains; the clock waits while the nose is down.
"""
import math
import numpy as np

PARAMS = {
    "period": (5.43412, 4.7, 6.1),
    # columns: amplitude on the sine and the cosine of the clock, bias; rows: bthigh, bshin, bfoot, fthigh, fshin, ffoot
    "clock": (np.array([[0.231078, 0.098798, -0.239058],
                        [0.157666, 0.537259, -0.374233],
                        [0.477907, 0.682807, 0.147507],
                        [0.812671, -0.268091, -0.247232],
                        [0.681594, -0.244543, 0.230548],
                        [-0.0477272, 0.00328531, -0.415006]]), -1.2, 1.2),
    "pitch": (1.75427, 0.8, 2.6),        # on all joints: pitch less level
    "rate": (0.38537, 0.15, 0.55),
    "level": (0.387929, 0.15, 0.6),
    "own_v_thigh": (0.0030442, -0.03, 0.03),  # own velocity, rad/s
    "own_v_rest": (0.0064976, -0.03, 0.03),
    "own_q": (-0.0141231, -0.6, 0.6),          # own angle
    "vz": (0.0390879, -0.2, 0.2),             # on the thighs
    "z_shin": (0.305618, -1.5, 1.5),         # height on the shins: + bends the back one, stretches the front one
    "speed": (-0.0152479, -0.1, 0.1),          # of the clock, by vx
    "wait": (0.379781, 0.28, 0.5),          # running mean of the pitch at which the clock waits
}


class Policy:
    def __init__(self, params):
        p = self.p = params
        W = np.zeros((6, 20))           # 17 observations, sine, cosine, one
        W[:, 17:20] = p["clock"]
        W[:, 1] = p["pitch"]
        W[:, 10] = p["rate"]
        W[:, 19] -= p["pitch"] * p["level"]
        for j in range(6):
            W[j, 2 + j] = p["own_q"]
            W[j, 11 + j] = p["own_v_thigh"] if j in (0, 3) else p["own_v_rest"]
        W[[0, 3], 9] = p["vz"]
        W[[1, 4], 0] = p["z_shin"]
        self.W = W
        self.theta, self.ramp, self.mean, self.waiting = 0.0, 0.0, 0.1, 0

    def act(self, obs):
        p = self.p
        self.mean += (float(obs[1]) - self.mean) / 10.0
        if self.waiting == 0 and abs(self.mean - 0.1) > p["wait"] - 0.1:
            self.waiting = 9
        if self.waiting > 0:
            self.waiting -= 1
            if self.waiting == 0:
                self.mean, self.ramp = 0.1, 0.0
            u = np.full(6, 0.85 * (float(obs[1]) - 0.05) + 0.18 * float(obs[10]))
        else:
            self.ramp = min(1.0, self.ramp + 1.0 / 6.0)
            self.theta += 2 * math.pi / p["period"] * (1.0 + p["speed"] * (float(obs[8]) - 1.5))
            f = np.concatenate([obs, [self.ramp * math.sin(self.theta), self.ramp * math.cos(self.theta), 1.0]])
            u = self.W @ f
        a = u / (1.0 + np.abs(u) ** 6) ** (1.0 / 6.0)   # close to the identity inside the bounds
        self.debug = {"mean": round(self.mean, 2), "waiting": self.waiting, "vx": round(float(obs[8]), 2)}
        return np.clip(a, -1.0, 1.0).astype(np.float32)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    import numpy as np

    policy = Policy({name: np.array(value[0], dtype=float) if np.ndim(value[0]) else value[0] for name, value in PARAMS.items()})
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
