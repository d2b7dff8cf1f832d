"""Policy for HalfCheetah-v5, written by inbox:box.

Held-out mean return 1507.63 (95 % interval 1295.6 to 1721.05; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -293.5 (-309.1 to -277.6, 100 episodes), the zero action -0.241 (-0.386 to -0.0934, 100 episodes).
Better than the zero action: 1508 against -0.241 (difference 1508 ± 109 over 100 shared episodes), but below the 4800 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r4c2 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

r3c2 with its front reflex written anew: predicted pitch through a soft saturation, stronger, and with the ankle joining the push; back foot at the phase that p3.1 found best.
"""
import numpy as np

PARAMS = {
    "period0": (5.97, 5.0, 7.0), "period1": (6.6, 5.5, 9.0),
    "b_shin": (0.294, -0.2, 0.8), "b_foot": (0.6, -0.2, 0.8),
    "gain_b": (1.186, 0.5, 3.0), "bias_b": (0.28, -0.5, 0.8), "bias_ft": (-0.09, -0.6, 0.6),
    "k_bt": (1.04, -1.0, 4.0), "k_bs": (0.87, -1.0, 4.0), "lead_b": (0.028, -0.05, 0.2),
    "k_ft": (2.6, -1.0, 6.0), "k_fs": (2.1, -1.0, 6.0), "k_ff": (1.5, -1.0, 6.0), "lead_f": (0.036, -0.05, 0.2),
    "pitch0": (-0.124, -0.4, 0.4), "stall": (0.33, 0.15, 0.8),
}

class Policy:
    def __init__(self, params):
        p = self.p = params
        self.phase, self.period = 0.0, p["period0"]
        self.mean, self.up = 0.0, 0
        self.lag = 2 * np.pi * np.array([0, p["b_shin"], p["b_foot"]])

    def act(self, obs):
        p = self.p
        self.mean += (obs[1] - self.mean) / 14.0
        if self.up == 0 and self.mean > p["stall"]:
            self.up = 16
        if self.up > 0:
            self.up -= 1
            self.debug = {"s": 0.0, "ef": 9.0, "mean": float(self.mean), "period": float(self.period)}
            self.mean, self.period, self.phase = 0.0, p["period0"], 0.0
            if self.up >= 8:
                return np.array([1.0, 1.0, 0.0, -1.0, -0.6, 0.0], dtype=np.float32)   # front leg forward, rear down
            return np.array([0.6, 0.6, 0.0, 0.5, 1.0, 1.0], dtype=np.float32)       # push the nose up
        self.period += ((p["period1"] if abs(self.mean) < 0.2 else p["period0"]) - self.period) / 40.0
        pitch, w = obs[1] - p["pitch0"], obs[10]
        eb = np.clip(pitch + p["lead_b"] * w, -0.6, 0.6)
        ef = np.clip(pitch + p["lead_f"] * w, -0.85, 0.85)
        u = np.zeros(6)
        u[:3] = p["gain_b"] * np.sin(self.phase + self.lag)
        u[:3] += np.array([p["bias_b"] + p["k_bt"] * eb, p["k_bs"] * eb, 0.0])
        u[3:] = np.tanh(ef * np.array([p["k_ft"], p["k_fs"], p["k_ff"]]))   # steep near level, never past full torque
        u[3] += p["bias_ft"]
        self.debug = {"s": float(np.sin(self.phase)), "ef": float(ef), "mean": float(self.mean), "period": float(self.period)}
        self.phase += 2 * np.pi / self.period
        return np.clip(u, -1, 1).astype(np.float32)


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
