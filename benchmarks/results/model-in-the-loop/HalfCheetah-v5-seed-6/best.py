"""Policy for HalfCheetah-v5, written by inbox:box.

Held-out mean return 2106.28 (95 % interval 1869.88 to 2326.56; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn -280.1 (-334.8 to -231.6, 10 episodes), the zero action -0.257 (-0.455 to -0.0522, 50 episodes).
Better than the zero action: 2106 against -0.257 (difference 2107 ± 120 over 50 shared episodes), but below the 4800 that counts as solved. The step budget ended after 3 of 4 rounds: go on with promptpo resume and more --max-steps.
Candidate r3c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

r1c3t with another front trim: equal to the tuned one up to pitch0 + 0.3, held and then reversed beyond it, so that in a nose-dive the front leg reaches out; the back thigh keeps the tuned trim.
"""
import numpy as np

PARAMS = {
    "P": (4.25371, 4.0, 12.0), "k_sync": (0.00650724, -0.08, 0.08), "sync_ph": (0.0991977, -0.5, 0.5),
    "kp": (3.21185, 0.8, 6.0), "kd": (0.0622984, -0.05, 0.2),
    "thigh": (0.345843, 0.1, 1.5), "thigh_f": (0.122409, 0.0, 1.5),
    "shin_b": (1.2981, 0.0, 2.2), "shin_f": (0.862149, 0.0, 1.6), "foot": (0.397211, 0.0, 1.0),
    "lag_sb": (0.541972, -0.25, 0.75), "lag_f": (0.319615, 0.0, 1.0), "lag_sf": (-0.0620182, -0.75, 0.25),
    "lag_foot": (-0.0166272, -0.5, 0.5),
    "off_bt": (0.563227, -0.4, 0.6), "off_ft": (-0.408765, -0.6, 0.6), "off_bs": (0.243364, -0.6, 0.6), "off_fs": (0.0882972, -0.6, 0.6),
    "pitch0": (0.132723, -0.4, 0.4), "k_pitch": (1.81562, -1.0, 3.0), "k_rate": (-0.0102347, -0.3, 0.4),
    "hold": (0.3, 0.1, 0.8), "reach": (2.0, 0.0, 5.0),
}

class Policy:
    def __init__(self, params):
        self.p = params
        self.ph = 0.0

    def act(self, obs):
        p = self.p
        pitch = np.clip((obs[1] + np.pi) % (2 * np.pi) - np.pi - p["pitch0"], -1.2, 1.2)
        rate = np.clip(obs[10], -5, 5)
        s = lambda lag: np.sin(2 * np.pi * (self.ph - lag))
        f = p["lag_f"]
        target = np.array([
            p["off_bt"] + p["thigh"] * s(0.0),
            p["off_bs"] + p["shin_b"] * s(p["lag_sb"]),
            p["foot"] * s(p["lag_foot"]),
            p["off_ft"] + p["thigh_f"] * s(f),
            p["off_fs"] + p["shin_f"] * s(f + p["lag_sf"]),
            p["foot"] * s(f + p["lag_foot"]),
        ])
        a = p["kp"] * (target - obs[2:8]) - p["kd"] * obs[11:17]
        trim = p["k_pitch"] * pitch + p["k_rate"] * rate
        a[0] += trim
        front = trim
        if pitch > p["hold"]:
            front = p["k_pitch"] * p["hold"] - p["reach"] * (pitch - p["hold"]) + p["k_rate"] * rate
        a[3] += front
        self.ph += max(0.03, 1.0 / p["P"] + p["k_sync"] * rate * np.cos(2 * np.pi * (self.ph - p["sync_ph"])))
        self.debug = {"ph": self.ph % 1.0, "trim": trim}
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
