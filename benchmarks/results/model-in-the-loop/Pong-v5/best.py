"""Policy for ale_py:ALE/Pong-v5, written by inbox:box.

Held-out mean return -0.2 (95 % interval -0.6 to 0; 5 episodes, seeds 20000000 to 20000004).
On the same seeds random actions earn -9.6 (-12.2 to -7, 5 episodes), the zero action -13 (-13 to -13, 5 episodes).
Better than random actions: -0.2 against -9.6 (difference 9.4 ± 1.6 over 5 shared episodes).
Candidate r3c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

As r1c1, but only offsets that surely hit are accepted: paddle 16 rows, ball 4, so beyond 9.5 there is no contact and 8.3 leaves room for errors.
"""
import numpy as np

PARAMS = {
    "aim": (5.5, 0.0, 9.0),      # wanted offset of ball from the paddle's middle, rows
    "slack": (4.5, 2.0, 12.0),   # error in rows around that offset which is left alone
    "pulse": (23.0, 12.0, 30.0), # rows that one more step of an action moves the resting place
    "coast": (14.0, 6.0, 22.0),  # rows the paddle still goes right after a pulse from rest
    "hit": (8.3, 6.0, 10.0),     # offset up to which contact is sure (16 rows of paddle, 4 of ball, less the errors)
    "home": (114.0, 90.0, 140.0),
}

class Policy:
    def __init__(self, params):
        self.p = params
        self.old = None      # last ball
        self.oldpad = None
        self.vel = None
        self.last = 0

    def perceive(self, obs):
        f = obs[34:194].astype(int)
        code = f[..., 0] * 65536 + f[..., 1] * 256 + f[..., 2]
        back = np.bincount(np.unique(code[:, 60:100], return_inverse=True)[1].ravel()).argmax()
        back = np.unique(code[:, 60:100])[back]
        m = code != back

        def middle(a, b):
            ys = np.nonzero(m[:, a:b].sum(1) >= 3)[0]
            return 34 + (float(ys.min()) + float(ys.max())) / 2 if len(ys) else None

        pad, enemy = middle(140, 144), middle(16, 20)
        m[:, 140:144] = False
        m[:, 16:20] = False
        ys, xs = np.nonzero(m)
        ball = (34 + float(ys.mean()), float(xs.mean())) if 0 < len(ys) < 40 else None
        return {"ball": ball, "pad": pad, "enemy": enemy}

    def meet(self, ball, vel):
        n = max(0.0, (138.0 - ball[1]) / vel[1])
        y = ball[0] + vel[0] * n - 35.5
        span = 156.5
        y = y % (2 * span)
        if y > span:
            y = 2 * span - y
        return y + 35.5, n

    def act(self, obs):
        p = self.p
        s = self.perceive(obs)
        ball, pad = s["ball"], s["pad"]
        if ball and self.old:
            d = (ball[0] - self.old[0], ball[1] - self.old[1])
            if 1.0 <= abs(d[1]) <= 20 and abs(d[0]) <= 25:
                # a bounce at the top or bottom between the two pictures: keep the old slope, turned
                if self.vel and self.vel[1] * d[1] > 0 and abs(abs(d[0]) - abs(self.vel[0])) > 1.5 and (ball[0] < 48 or ball[0] > 180):
                    up = ball[0] > 114
                    d = (-abs(self.vel[0]) if up else abs(self.vel[0]), d[1])
                self.vel = d
            else:
                self.vel = None
        elif not ball:
            self.vel = None
        self.old = ball
        if pad is None:
            self.oldpad = None
            return self.go(0)
        v = pad - self.oldpad if self.oldpad is not None else 0.0
        self.oldpad = pad
        if self.last == 2:
            rest = pad - p["coast"] - 0.35 * max(0.0, -v - 10)
        elif self.last == 3:
            rest = pad + p["coast"] + 0.35 * max(0.0, v - 10)
        else:
            rest = pad + 0.35 * v
        rest = min(max(rest, 41.5), 185.5)
        if ball and self.vel and self.vel[1] > 0 and ball[1] < 139:
            y, n = self.meet(ball, self.vel)
            far = n > 22
            choices = []
            for a, move in ((0, 0.0), (2, -p["pulse"]), (3, p["pulse"])):
                r = min(max(rest + move, 41.5), 185.5)
                off = abs(y - r)
                cost = max(0.0, abs(off - p["aim"]) - p["slack"])
                if off > p["hit"]:
                    cost += 6.0 + (off - p["hit"])
                if a:
                    cost += 1.5 if not far else 5.0
                choices.append((cost, a))
            a = min(choices)[1]
            stay = abs(y - rest)
            if a == 0 and p["hit"] < stay and n > 4 and abs(v) <= 4 and self.last == 0:
                a = 2 if y < rest else 3   # neither is good and there is time: draw again
            if n < 2.5 and stay <= 9.5:
                a = 0
            self.debug = {"y": round(y), "n": round(n, 1), "rest": round(rest)}
            return self.go(a)
        self.debug = {"rest": round(rest)}
        e = p["home"] - rest
        if ball and self.vel and self.vel[1] < 0 and abs(self.vel[0]) > 6:
            e = 0.0  # a steep ball is on its way: nothing to gain by moving
        if abs(e) > 16:
            return self.go(2 if e < 0 else 3)
        return self.go(0)

    def go(self, a):
        self.last = a
        return a


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
    """What the policy returned, as the environment wants it."""
    import numpy as np

    return int(np.asarray(action).item())


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='ale_py:ALE/Pong-v5', help="environment id")
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
