"""Policy for BipedalWalker-v3, written by inbox:box.

Held-out mean return 242.858 (95 % interval 230.789 to 252.417; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -97.4606 (-100.102 to -94.9094, 100 episodes), the zero action -91.9286 (-91.9459 to -91.9112, 100 episodes).
Better than the zero action: 242.9 against -91.9 (difference 334.8 ± 5.43 over 100 shared episodes), but below the 300 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r4c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Two roles: swing ahead, drop, contact swaps, the trailing knee pushes while slow; foot placement by speed. New against the forward runaway:
angles of the legs count from the vertical when the hull is tipped, the drop comes earlier when fast, and the landing leg is straighter and farther ahead.
"""
import numpy as np

PARAMS = {
    "speed": (0.167, 0.05, 0.5),
    "reach": (0.969, 0.5, 1.2),
    "bend": (-0.563, -0.7, 0.3),
    "stance_knee": (0.313, -0.3, 0.8),
    "behind": (0.006, -0.3, 0.4),
    "land_hip": (0.369, -0.3, 0.6),
    "level": (0.148, 0.05, 1.5),
    "level_d": (2.31, 0.0, 3.0),
    "damp": (10.1, 0.0, 15.0),
    "swing_p": (0.424, 0.3, 1.5),
    "ahead": (0.13, -0.2, 0.6),
    "fast": (0.310, 0.22, 0.45),
    "place": (2.59, 0.0, 5.0),
    "tip": (-0.239, -0.4, -0.1),
    "alarm_p": (1.51, 0.45, 3.0),
    "rescue": (1.0, 0.0, 3.0),
    "slow": (0.22, 0.05, 0.35),        # below this speed the foot lands nearer
    "slow_place": (1.0, 0.0, 4.0),
    "slow_behind": (0.3, -0.5, 2.0),   # and the swing leg is dropped earlier
    "back": (-0.03, -0.15, 0.05),      # below this speed the drop is not waited for
    "back_wait": (12.0, 4.0, 40.0),
    "too_fast": (0.36, 0.30, 0.5),     # above this speed the brake works
    "brake_behind": (1.2, 0.0, 4.0),   # drop earlier
    "brake_place": (1.5, 0.0, 5.0),    # land farther ahead
    "brake_knee": (1.2, 0.0, 4.0),     # on a straighter leg
    "level_off": (-0.13, -0.3, 0.0),   # below this hull angle legs count from the vertical
    "upright": (1.0, 0.0, 2.0),
}

class Policy:
    def __init__(self, params):
        self.p = params
        self.swing = 0
        self.pushing = False
        self.dropping = False
        self.t = 0

    def act(self, obs):
        p = self.p
        s = [float(x) for x in obs[:14]]
        m, q = 4 + 5 * self.swing, 9 - 5 * self.swing  # where the swing and the support leg begin
        self.t += 1
        v = s[2]
        alarm = v > p["fast"] or s[0] < p["tip"]
        lack = max(0.0, p["slow"] - v)
        over = max(0.0, v - p["too_fast"])
        tipped = p["upright"] * max(0.0, p["level_off"] - s[0])  # how far a leg stands farther back than its hip angle says
        stance_knee = min(0.85, p["stance_knee"] + p["brake_knee"] * over)
        wait = p["back_wait"] if v < p["back"] else 60
        if self.pushing and (s[m + 2] > 0.88 or v > p["speed"] or self.t > 40 or s[m] > s[q] + 0.15):
            self.pushing = False
            self.t = 0
        elif not self.pushing and not self.dropping and (
            (s[q] < p["behind"] + p["slow_behind"] * lack + p["brake_behind"] * over + tipped and s[m] > p["ahead"])
            or self.t > wait
        ):
            self.dropping = True
            self.t = 0
        elif self.dropping and (s[m + 4] > 0.5 or self.t > 60):
            self.dropping, self.pushing = False, True
            self.swing = 1 - self.swing
            m, q = q, m
            self.t = 0

        balance = p["level"] * s[0] + p["level_d"] * s[1]
        if alarm and s[q + 4] > 0.5:
            support_hip = balance + p["rescue"] * min(0.0, s[0] - 0.5 * p["tip"])
        else:
            support_hip = balance
        hips = {m: balance, q: support_hip}
        knees = {q: stance_knee}
        gain = p["alarm_p"] if alarm or v < p["back"] else p["swing_p"]
        more = p["place"] * max(0.0, v - p["fast"]) + max(tipped, p["tip"] - s[0], 0.0) + p["brake_place"] * over - p["slow_place"] * lack
        damp = {m: p["damp"], q: p["damp"]}
        if self.pushing:
            knees[m] = 1.0
        elif self.dropping:
            land = min(1.1, max(-0.3, p["land_hip"] + more))
            hips[m] += gain * (land - s[m]) - 0.12 * s[m + 1]
            knees[m] = stance_knee
            if alarm and s[m] < min(p["ahead"], land - 0.2):
                knees[m] = 0.0
                damp[m] = 0.0
        else:
            hips[m] += gain * (min(1.1, p["reach"] + tipped) - s[m]) - 0.12 * s[m + 1]
            knees[m] = p["bend"]
            if alarm:
                damp[m] = 0.0

        a = np.zeros(4)
        for leg in (0, 1):
            b = 4 + 5 * leg
            a[2 * leg] = hips[b]
            a[2 * leg + 1] = 2.0 * (knees[b] - s[b + 2]) - 0.12 * s[b + 3] - damp[b] * s[3]
        self.debug = {"swing": self.swing, "push": int(self.pushing), "drop": int(self.dropping), "over": round(over, 2), "tipped": round(tipped, 2)}
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
