"""Policy for Walker2d-v5, written by inbox:box.

Held-out mean return 2526.14 (95 % interval 2518.79 to 2532.94; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn 1.11 (0.123 to 2.08, 100 episodes), the zero action 93.7 (92 to 95.5, 100 episodes).
Better than the zero action: 2526 against 93.7 (difference 2432.4 ± 3.7 over 100 shared episodes).
Candidate r4c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Walk on a bent knee that stretches as its leg goes behind: landing short and leaving long drives the body forward.
The ankle pushes only once the toe (0.2 m ahead of the ankle) is behind the hip, so that it pushes forward and not up.
Stance hip = torso control - swing hip torque; swing thigh by speed and stance leg angle; exchange at touchdown.
"""
import numpy as np

PARAMS = {
    "lean": (0.0832679, -0.7, 0.1), "kpt": (0.340041, 0.3, 2.5), "kdt": (0.14445, 0.03, 0.25),   # torso
    "off": (0.353109, -0.1, 0.6), "cv": (0.00112631, 0.0, 0.4), "mirror": (0.142579, 0.0, 2.0),      # swing thigh angle wanted
    "kps": (2.11114, 1.0, 6.0), "kds": (0.263834, 0.05, 0.6), "bend": (0.302326, 0.3, 1.5),      # swing hip gains, knee bend
    "kb": (0.438249, 0.0, 0.9),     # knee bend at landing and till upright
    "ext": (0.142422, 0.05, 0.5),   # rad behind at which the stance knee is straight
    "d0": (0.02, -0.05, 0.2),  # m that the toe must be behind the hip for the ankle's push to begin
    "push": (0.9, 0.0, 1.0), "tmax": (94.8251, 30.0, 100.0),
}

class Policy:
    def __init__(self, params):
        self.p, self.sw, self.t, self.v = params, 0, 0, 0.0

    def act(self, obs):
        p, phi, s = self.p, obs[1], self.sw
        q, dq = obs[2:8].reshape(2, 3), obs[11:17].reshape(2, 3)
        psi = q[:, 0] - phi                               # thigh, shank ahead of the vertical
        sh = psi + q[:, 1]
        ax = 0.45 * np.sin(psi) + 0.5 * np.sin(sh)        # ankle ahead of the hip, below it
        down = 0.45 * np.cos(psi) + 0.5 * np.cos(sh)
        leg = np.arctan2(ax, down)
        low = obs[0] - 0.2 * np.cos(phi) - down + np.minimum(0.0, 0.2 * np.sin(sh + q[:, 2])) - 0.06
        self.v += 0.1 * (obs[8] - self.v)
        self.t += 1
        if self.t > 15 and (low[s] < 0.012 and ax[s] > ax[1 - s] + 0.03 or self.t > p["tmax"]):
            self.sw, self.t, s = 1 - s, 0, 1 - s
        st = 1 - s
        want = np.clip(p["off"] + p["cv"] * self.v - p["mirror"] * min(leg[st], 0.1), -0.4, 0.8)
        behind = np.clip(-leg[st] / p["ext"], 0.0, 1.0)
        lifted = self.t < 12 or (leg[s] < leg[st] + 0.1 and self.t < 45)
        knees = {s: -p["bend"] if lifted else -p["kb"], st: -p["kb"] * (1 - behind)}
        a = np.zeros((2, 3))
        a[s, 0] = np.clip(p["kps"] * (want - psi[s]) - p["kds"] * (dq[s, 0] - obs[10]), -0.85, 0.85)
        a[st, 0] = p["kpt"] * (p["lean"] - phi) - p["kdt"] * obs[10] - a[s, 0]
        for i in (s, st):
            a[i, 1] = 3.0 * (knees[i] - q[i, 1]) - 0.18 * dq[i, 1]
        a[s, 2] = 0.6 * (np.clip(0.08 - sh[s], -0.7, 0.7) - q[s, 2]) - 0.04 * dq[s, 2]
        toe = ax[st] + 0.2 * np.cos(sh[st] + q[st, 2])    # of the stance foot, ahead of the hip
        a[st, 2] = -p["push"] * np.clip((-toe - p["d0"]) / 0.08, 0.0, 1.0) * (q[st, 2] > -0.6) - 0.03 * dq[st, 2]
        self.debug = {"sw": s, "t": self.t, "want": round(float(want), 2), "psiS": round(float(psi[s]), 2), "legS": round(float(leg[s]), 2),
                      "legSt": round(float(leg[st]), 2), "lowS": round(float(low[s]), 3), "v": round(self.v, 2), "toe": round(float(toe), 2)}
        return np.clip(a.ravel(), -1, 1).astype(np.float32)


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
