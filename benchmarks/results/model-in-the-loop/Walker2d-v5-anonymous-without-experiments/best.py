"""Policy for Walker2d-v5, written by inbox:box.

Held-out mean return 1824.34 (95 % interval 1782.33 to 1847.47; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn 1.11149 (0.123429 to 2.08443, 100 episodes), the zero action 93.7209 (92.0452 to 95.4515, 100 episodes).
Better than the zero action: 1824 against 93.7 (difference 1731 ± 18.3 over 100 shared episodes).
Candidate r3c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Clocked steps: the swing thigh's world angle and the stance ankle's torque both come from the speed error.
Positive trunk angle = forward lean; positive hip torque = thigh forward, trunk forward; negative knee = bent.
"""
import numpy as np

PARAMS = {
    "freq": (1.5, 0.6, 3.0),       # strides per second
    "v_des": (0.7, 0.0, 3.0),
    "place0": (-0.08, -0.3, 0.2),  # thigh forward of vertical (world) at speed 0 = wanted
    "place_v": (0.17, 0.0, 0.4),   # per m/s of speed
    "place_e": (0.2, 0.0, 0.6),    # per m/s above v_des
    "lift": (0.7, 0.2, 1.4), "knee0": (-0.08, -0.4, 0.0),
    "lean": (0.05, -0.2, 0.4), "k_lean": (2.0, 0.5, 5.0), "d_lean": (0.1, 0.02, 0.25),
    "k_hip": (2.5, 0.5, 6.0), "d_hip": (0.25, 0.02, 0.6),
    "ankle_x": (1.2, 0.0, 4.0),    # toe torque per metre that the hip is ahead of the stance ankle
    "ankle_v": (0.3, 0.0, 1.0),    # per m/s above v_des
}


class Policy:
    def __init__(self, params):
        self.p, self.t, self.v = dict(params), 0.0, 0.0

    def act(self, obs):
        p, pitch, rate = self.p, float(obs[1]), float(obs[10])
        self.v += 0.15 * (float(obs[8]) - self.v)
        turn = 2.0 * p["freq"] * self.t
        sw, ph = int(turn) % 2, turn % 1.0
        st, err = 1 - sw, self.v - p["v_des"]
        a, q, w = np.zeros(6, dtype=np.float32), obs[2:8], obs[11:17]
        place = np.clip(p["place0"] + p["place_v"] * self.v + p["place_e"] * err, -0.3, 0.5)
        u = p["k_hip"] * (min(place, 0.08 - pitch) - (q[3 * sw] - pitch)) - p["d_hip"] * (w[3 * sw] - rate)
        u = float(np.clip(u, -1, 1))
        a[3 * sw] = u
        a[3 * st] = p["k_lean"] * (p["lean"] - pitch) - p["d_lean"] * rate - u
        for i, knee in ((sw, p["knee0"] - p["lift"] * max(0.0, np.sin(np.pi * min(1.0, ph / 0.8)))), (st, p["knee0"])):
            a[3 * i + 1] = 2.5 * (knee - q[3 * i + 1]) - 0.1 * w[3 * i + 1]
        foot = np.clip(pitch - q[3 * sw] - q[3 * sw + 1] + 0.08, -0.6, 0.6)    # swing foot flat, toe a little up
        a[3 * sw + 2] = 0.6 * (foot - q[3 * sw + 2]) - 0.03 * w[3 * sw + 2]
        back = pitch - q[3 * st]                                               # stance leg, world angles
        ahead = 0.45 * np.sin(back) + 0.5 * np.sin(back - q[3 * st + 1])
        a[3 * st + 2] = np.clip(-p["ankle_x"] * ahead - p["ankle_v"] * err, -0.6, 0.12) - 0.02 * w[3 * st + 2]
        self.t += 0.008
        self.debug = {"swing": sw, "place": round(float(place), 2), "ahead": round(float(ahead), 2), "v": round(self.v, 2)}
        return np.clip(a, -1, 1)


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
    parser.add_argument("--env", default='Walker2d-v5', help="environment id")
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
