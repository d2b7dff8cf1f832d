"""Policy for HalfCheetah-v5 with the reward written for the goal (7c514818), written by inbox:box.

Held-out mean return 124.145 (95 % interval 96.0357 to 155.065; 20 episodes, seeds 20000000 to 20000019).
Success in 80% of them.
On the same seeds random actions earn 20 (14.3 to 26.4, 10 episodes), the zero action 0.701 (0.613 to 0.795, 10 episodes).
Better than random actions: 124.1 against 20 (difference 111 ± 19 over 10 shared episodes).
Candidate r1c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Repeated kicks (front extended while the back folds, then the reverse) that go on with a push over the nose; in-episode search; after one full turn only the springs act.
"""
import math
import numpy as np

PARAMS = {
    "crouch": (8.0, 1.0, 12.0),
    "push": (4.0, 2.0, 12.0),
    "bounds": (0.0, 0.0, 4.0),
    "front_crouch": (-0.9, -1.0, 1.0),   # + folds the front leg, - extends it
    "front_push": (0.5, -1.0, 1.0),
    "fly": (0.9, -1.0, 1.0),            # + folds all legs in flight
    "fly_steps": (7.0, 0.0, 20.0),
    "sigma": (0.25, 0.05, 1.0),
    "catch": (0.9, 0.3, 1.8),           # rad before the full turn where the legs relax
    "damp": (0.02, 0.0, 0.08),
    "over_from": (0.8, 0.5, 1.3),       # rad: from here on it pushes over the nose
    "over_wind": (3.0, 0.0, 9.0),
    "over_push": (6.0, 2.0, 12.0),
}

FULL = 2.0 * math.pi
BACK_EXT = np.array([1.0, -1.0, 1.0])    # back leg extends
FRONT_EXT = np.array([-1.0, 1.0, 1.0])   # front leg extends

class Policy:
    def __init__(self, params):
        self.p = dict(params)
        self.rng = None
        p = self.p
        self.base = np.array([p["crouch"], p["push"], p["bounds"], p["front_crouch"],
                              p["front_push"], p["fly"], p["fly_steps"]])
        self.scale = np.array([3.0, 3.0, 1.5, 0.7, 0.7, 0.7, 5.0])
        self.low = np.array([1.0, 2.0, 0.0, -1.0, -1.0, -1.0, 0.0])
        self.high = np.array([12.0, 12.0, 4.0, 1.0, 1.0, 1.0, 20.0])
        self.best = self.base.copy()
        self.best_score = -1e9
        self.cur = self.base.copy()
        self.kip = None
        self.over = None
        self.best_over = None
        self.best_over_score = 0.0
        self.overs = 0
        self.best_kip = None
        self.best_kip_score = 0.0
        self.plan = []
        self.mode = "rest"
        self.count = 0
        self.quiet = 0
        self.peak = 0.0
        self.a0 = 0.0
        self.tries = 0

    def legs(self, back, front):
        return np.concatenate([back * BACK_EXT, front * FRONT_EXT])

    def start_attempt(self, angle):
        if self.tries > 0:
            k = self.p["sigma"] if self.rng.random() < 0.7 else 1.0
            self.cur = np.clip(self.best + k * self.scale * self.rng.normal(size=7), self.low, self.high)
        c = self.cur
        nc, npush, nb, nf = int(round(c[0])), int(round(c[1])), int(round(c[2])), int(round(c[6]))
        plan = []
        for _ in range(nb):  # bounds for a run-up: back pushes, then front pushes
            plan += [self.legs(-0.8, 0.5)] * 4 + [self.legs(0.9, -0.4)] * 4
        plan += [self.legs(-1.0, -c[3])] * nc
        plan += [self.legs(1.0, -c[4])] * npush
        plan += [self.legs(-c[5], -c[5])] * nf
        self.plan = plan
        self.mode = "try"
        self.tries += 1
        self.a0 = angle
        self.peak = angle

    def start_over(self, angle):
        """On the nose, tail up: draw the front leg in, then push with it; the back leg swings over."""
        if self.best_over is not None and self.rng.random() < 0.5:
            wind, push, back0, back1 = self.best_over
        elif self.overs == 0:
            wind, push = int(round(self.p["over_wind"])), int(round(self.p["over_push"]))
            back0, back1 = -np.ones(3), np.ones(3)
        else:
            wind, push = int(self.rng.integers(0, 8)), int(self.rng.integers(3, 11))
            back1 = [np.ones(3), BACK_EXT, -BACK_EXT, np.array([1.0, 1.0, -1.0])][int(self.rng.integers(4))]
            back0 = -back1 if self.rng.random() < 0.6 else back1
        self.overs += 1
        self.over = (wind, push, back0, back1)
        self.plan = [np.concatenate([back0, -FRONT_EXT])] * wind + [np.concatenate([back1, FRONT_EXT])] * push
        self.mode = "over"
        self.a0 = angle
        self.peak = angle

    def start_kip(self, angle):
        if self.best_kip is not None and self.rng.random() < 0.5:
            wind, swing, back, front, cycles = self.best_kip
        else:
            wind = int(self.rng.integers(2, 11))
            swing = int(self.rng.integers(2, 9))
            if self.rng.random() < 0.5:
                back, front = np.ones(3), np.ones(3)  # all legs turn the way the body shall turn, then stop
            else:
                back, front = self.rng.choice([-1.0, 1.0], 3), self.rng.choice([-1.0, 1.0], 3)
            cycles = int(self.rng.integers(1, 5))
        self.kip = (wind, swing, back, front, cycles)
        a = np.concatenate([back, front])
        self.plan = ([-a] * wind + [a] * swing) * cycles
        self.mode = "kip"
        self.a0 = angle
        self.peak = angle

    def act(self, obs):
        z, angle, w = float(obs[0]), float(obs[1]), float(obs[10])
        vz = float(obs[9])
        if self.rng is None:
            self.rng = np.random.default_rng(int(abs(float(np.sum(obs))) * 1e6) % (2 ** 31))
        self.peak = max(self.peak, angle)
        calm = abs(w) < 0.8 and abs(vz) < 0.5
        self.quiet = self.quiet + 1 if calm else 0
        self.count += 1
        relax = -self.p["damp"] * np.asarray(obs[11:17], dtype=float)
        self.debug = {"mode": self.mode, "tries": self.tries, "angle": round(angle, 2)}

        # the turn is done, or nearly: let the springs catch it
        if angle > FULL - self.p["catch"]:
            self.plan = []
            self.mode = "rest"
            if angle < FULL + 0.9 or self.quiet < 8:
                return np.clip(relax, -1, 1).astype(np.float32)

        if self.plan:
            if not (self.mode == "try" and angle > 1.1 and w < 2.0):
                return np.clip(self.plan.pop(0), -1, 1).astype(np.float32)
            self.plan = []  # tipped up and slowing: push over now

        off = (angle + math.pi) % FULL - math.pi
        on_nose = self.p["over_from"] < off < 2.3 and w > -1.5

        if not on_nose and self.quiet < 3 and self.count < 30:
            return np.clip(relax, -1, 1).astype(np.float32)

        # what was tried is over: judge it
        if self.mode == "try":
            score = self.peak - self.a0
            if score > self.best_score:
                self.best_score, self.best = score, self.cur.copy()
        elif self.mode == "kip" and self.kip is not None:
            score = self.peak - self.a0
            if score > self.best_kip_score:
                self.best_kip_score, self.best_kip = score, self.kip
        elif self.mode == "over" and self.over is not None:
            score = self.peak - self.a0
            if score > self.best_over_score:
                self.best_over_score, self.best_over = score, self.over
        self.count = 0
        self.quiet = 0
        if on_nose:
            self.start_over(angle)
        elif abs(off) < 0.8:
            self.start_attempt(angle)
        else:
            self.start_kip(angle)
        return np.clip(self.plan.pop(0), -1, 1).astype(np.float32)


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
