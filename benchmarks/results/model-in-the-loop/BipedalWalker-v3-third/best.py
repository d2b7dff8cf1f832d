"""Policy for BipedalWalker-v3, written by inbox:box.

Held-out mean return 232.259 (95 % interval 210.184 to 249.515; 50 episodes, seeds 20000000 to 20000049).
On the same seeds random actions earn -95.6 (-99.4 to -91.8, 50 episodes), the zero action -91.9 (-92 to -91.9, 50 episodes).
Better than the zero action: 232.3 against -91.9 (difference 324 ± 10 over 50 shared episodes), but below the 300 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r4c4t of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Three-state walk: STAY (support leg passes under, other swings ahead bent), DOWN (other leg is put down), PUSH (rear knee extends); Outside the normal range (vx over vlim or hull below -tip) the free leg is put down at once, further ahead and without the hull term; inside it nothing changes.
"""
import numpy as np

PARAMS = {
    "speed": (0.244674, 0.15, 0.6),
    "support_knee": (0.00977901, -0.4, 0.5),
    "swing_hip": (1.09439, 0.4, 1.4),
    "swing_knee": (-0.423988, -0.8, 0.2),
    "behind": (0.22695, -0.3, 0.4),
    "down_hip": (0.181415, -0.3, 0.6),
    "push_knee": (1.24487, 0.5, 1.4),
    "push_done": (0.793951, 0.4, 1.0),
    "rate": (0.0647665, 0.0, 0.1),
    "kp_hip": (0.674685, 0.3, 3.0),
    "kd_hip": (0.324403, 0.0, 1.0),
    "kp_knee": (5.6142, 1.0, 8.0),
    "kd_knee": (0.280317, 0.0, 1.0),
    "hull_p": (0.643838, 0.0, 3.0),
    "hull_d": (1.47217, 0.0, 4.0),
    "vy": (11.3868, 0.0, 25.0),
    "gain": (0.626555, 0.3, 1.0),
    "vlim": (0.401668, 0.3, 0.9),
    "tip": (0.0845954, 0.05, 0.4),
    "ahead_v": (1.76495, 0.0, 4.0),
    "ahead_h": (3.14189, 0.0, 4.0),
    "ahead": (0.0112604, 0.0, 0.8),
    "kp_res": (3.41972, 0.9, 5.0),
    "late": (0.259479, 0.0, 0.8),
}

class Policy:
    def __init__(self, params):
        self.p = params
        self.state = "stay"
        self.mov = 0
        self.knee = params["support_knee"]

    def act(self, obs):
        p = self.p
        m, s = 4 + 5 * self.mov, 4 + 5 * (1 - self.mov)
        hip, knee = [None, None], [None, None]
        mv, su = self.mov, 1 - self.mov
        over, lean = float(obs[2]) - p["vlim"], -float(obs[0]) - p["tip"]
        rescue = over > 0 or lean > 0
        if rescue and self.state == "stay" and obs[s] < p["late"]:
            self.state = "down"
        if self.state == "stay":
            hip[mv] = p["swing_hip"]
            knee[mv] = p["swing_knee"]
            self.knee += p["rate"]
            if obs[2] > p["speed"]:
                self.knee += p["rate"]
            self.knee = min(self.knee, p["support_knee"])
            knee[su] = self.knee
            if obs[s] < p["behind"]:
                self.state = "down"
        if self.state == "down":
            hip[mv] = p["down_hip"]
            if rescue:
                hip[mv] = min(1.0, p["down_hip"] + p["ahead"] + p["ahead_v"] * max(over, 0.0) + p["ahead_h"] * max(lean, 0.0))
            knee[mv] = p["support_knee"]
            knee[su] = self.knee
            if obs[m + 4] > 0.5:
                self.state = "push"
                self.knee = min(float(obs[m + 2]), p["support_knee"])
        if self.state == "push":
            knee[mv] = self.knee
            knee[su] = p["push_knee"]
            if obs[s + 2] > p["push_done"] or obs[2] > 1.2 * p["speed"]:
                self.state = "stay"
                self.mov = su
        a = np.zeros(4)
        for leg in (0, 1):
            b = 4 + 5 * leg
            if hip[leg] is not None:
                a[2 * leg] = p["kp_hip"] * (hip[leg] - obs[b]) - p["kd_hip"] * obs[b + 1]
            if knee[leg] is not None:
                a[2 * leg + 1] = p["kp_knee"] * (knee[leg] - obs[b + 2]) - p["kd_knee"] * obs[b + 3]
            if rescue and leg == mv and hip[leg] is not None and obs[b + 4] < 0.5:
                a[2 * leg] = p["kp_res"] * (hip[leg] - obs[b]) - p["kd_hip"] * obs[b + 1]
            else:
                a[2 * leg] += p["hull_p"] * obs[0] + p["hull_d"] * obs[1]
            a[2 * leg + 1] -= p["vy"] * obs[3]
        self.debug = {"state": self.state, "mov": self.mov, "knee": round(float(self.knee), 2), "rescue": int(rescue)}
        return np.clip(p["gain"] * a, -1, 1).astype(np.float32)


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
