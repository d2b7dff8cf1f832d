"""Policy for BipedalWalker-v3, written by inbox:box.

Held-out mean return 254.544 (95 % interval 246.617 to 261.11; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -97.5 (-100.1 to -94.9, 100 episodes), the zero action -91.9 (-91.9 to -91.9, 100 episodes).
Better than the zero action: 254.5 against -91.9 (difference 346.5 ± 4.0 over 100 shared episodes), but below the 300 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r4c3t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

SIMBICON: two timed swings and two strikes; stance hip = pitch torque minus swing torque; swing hip target shifts with speed and stance angle; leg 1 lands farther ahead than leg 2.
"""
import numpy as np

PARAMS = {
    "lift1": (12.4797, 4.0, 20.0),        # steps of lifting, leg 1 / leg 2
    "lift2": (7.18623, 4.0, 20.0),
    "late": (32.6625, 12.0, 50.0),
    "th1": (0.785681, 0.3, 1.1),           # swing hip (plus hull angle) of leg 1 / leg 2
    "th2": (-0.15222, -0.6, 0.6),
    "up": (0.260661, -0.2, 0.5),           # higher by this while lifting
    "c_v": (0.759781, 0.0, 3.0),           # placement per speed above v_ref
    "c_d": (-0.0271639, -0.5, 1.0),          # placement per stance leg angle
    "v_ref": (0.132409, 0.1, 0.6),
    "k_lift": (-0.532692, -0.6, 0.1),
    "k_land1": (-0.0161162, -0.4, 0.5),
    "k_land2": (-0.038594, -0.5, 0.5),
    "k_st1": (-0.128986, -0.4, 0.5),        # stance knee of leg 1
    "k_st2": (0.57687, 0.0, 1.2),         # stance knee of leg 2: pushes
    "pull": (0.228895, -0.2, 0.8),         # constant backward torque of the stance hip
    "share": (0.612251, 0.0, 1.0),         # share of the swing torque taken by the stance hip
    "kp_sw": (1.05728, 0.5, 3.0),
    "kd_sw": (0.192699, 0.0, 0.8),
    "kp_k": (1.34852, 0.8, 4.0),
    "kd_k": (0.259167, 0.0, 0.6),
    "hull_t": (0.144295, -0.2, 0.3),
    "hull_p": (2.14741, 0.2, 4.0),
    "hull_d": (2.55805, 0.0, 5.0),
    "vert": (5.56796, 0.0, 10.0),
}


class Policy:
    def __init__(self, params):
        self.p = params
        self.sw = 0       # swinging leg
        self.n = 0
        self.both = False  # strike state

    def act(self, obs):
        p = self.p
        v, h = float(obs[2]), float(obs[0])
        hip = (float(obs[4]), float(obs[9]))
        knee = (float(obs[6]), float(obs[11]))
        hip_v = (float(obs[5]), float(obs[10]))
        knee_v = (float(obs[7]), float(obs[12]))
        contact = (obs[8] > 0.5, obs[13] > 0.5)
        self.n += 1
        lift = p["lift1"] if self.sw == 0 else p["lift2"]
        if self.n > lift and (contact[self.sw] or self.n > p["late"]):
            self.sw, self.n = 1 - self.sw, 0
            lift = p["lift1"] if self.sw == 0 else p["lift2"]
        s, st = self.sw, 1 - self.sw
        lifting = self.n <= lift

        theta = p["th1"] if s == 0 else p["th2"]
        goal = theta + p["c_v"] * (v - p["v_ref"]) * (1.0 if v < p["v_ref"] else 0.3)
        goal += p["c_d"] * (-(hip[st] + h) - (0.4 if s == 0 else -0.5))
        goal += p["up"] if lifting else 0.0
        goal = max(-0.8, min(1.1, goal - 0.5 * h))
        t_sw = p["kp_sw"] * (goal - hip[s]) - p["kd_sw"] * hip_v[s]
        t_sw = max(-1.0, min(1.0, t_sw))
        pitch = p["hull_p"] * (h - p["hull_t"]) + p["hull_d"] * float(obs[1])
        grounded = 1.0 if contact[st] else 0.4
        t_st = grounded * (pitch - p["pull"]) - p["share"] * max(0.0, t_sw)

        k_sw = p["k_lift"] if lifting else (p["k_land1"] if s == 0 else p["k_land2"])
        k_st = p["k_st1"] if st == 0 else p["k_st2"]
        a = np.zeros(4)
        a[2 * s], a[2 * st] = t_sw + 0.5 * pitch, t_st
        for i, target in ((s, k_sw), (st, k_st)):
            a[2 * i + 1] = p["kp_k"] * (target - knee[i]) - p["kd_k"] * knee_v[i] - p["vert"] * float(obs[3])
        self.debug = {"swing": s + 1, "n": self.n, "goal": round(goal, 2), "v": round(v, 2)}
        return np.clip(a, -1.0, 1.0).astype(np.float32)


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

    action = np.asarray(action, dtype=np.float32).reshape((4,))
    return np.clip(action, np.float32(-1.0), np.float32(1.0))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='BipedalWalker-v3', help="environment id")
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
