"""Policy for BipedalWalker-v3, written by inbox:box.

Held-out mean return 78.5858 (95 % interval 51.1691 to 106.902; 100 episodes, seeds 20000000 to 20000099).
On the same seeds random actions earn -97.4606 (-100.102 to -94.9094, 100 episodes), the zero action -91.9286 (-91.9459 to -91.9112, 100 episodes).
Better than the zero action: 78.6 against -91.9 (difference 170.5 ± 14 over 100 shared episodes), but below the 300 that counts as solved. Describe the task (--hint), start from a controller of your own (--start), or raise --rounds and --max-steps.
Candidate r4c1 of run run, promptpo 0.1.0, 2026-11-22.

This is code written by a language model; it passed promptpo's static gate, which is no sandbox, while `promptpo play` and `promptpo evaluate` run it confined.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Three-phase gait; ordinary landing near v_ref, whole-leg capture landing with a straighter knee beyond a margin of excess speed; at touchdown the rear leg is always the one that pushes.
"""
import numpy as np

PARAMS = {
    "v_ref": (0.30, 0.2, 0.45),
    "v_limit": (0.35, 0.2, 0.5),
    "swing_hip": (1.1, 0.6, 1.3),
    "place_hip": (0.1, -0.1, 0.6),
    "place_fast": (1.5, 0.3, 4.0),
    "margin": (0.10, 0.0, 0.3),        # excess speed above which the capture landing begins
    "leg_fast": (2.8, 0.5, 6.0),
    "knee_fast": (1.5, 0.0, 3.5),
    "ahead": (0.35, 0.0, 0.9),
    "pitch_comp": (0.8, 0.0, 1.2),
    "stance_knee": (0.1, -0.2, 0.5),
    "behind": (0.10, -0.2, 0.4),
    "hip_p": (1.1, 0.4, 3.0),
    "hull_ref": (0.0, -0.15, 0.2),
    "hull_p": (1.8, 0.5, 6.0),
    "hull_d": (4.0, 0.0, 15.0),
    "swing_level": (0.3, 0.0, 1.0),
    "vert_d": (15.0, 0.0, 25.0),
    "gain": (0.5, 0.25, 0.9),
}
SWING_KNEE, HIP_D, KNEE_P, KNEE_D = -0.6, 0.25, 4.0, 0.25


class Policy:
    def __init__(self, params):
        self.p = params
        self.phase = "swing"
        self.m = 0
        self.n = 0
        self.bend = params["stance_knee"]

    def landing(self, v_err):
        """Knee and hip (as if the hull were level) of the landing leg; and how far ahead it must be first."""
        p = self.p
        fast = max(0.0, v_err)
        hip = p["place_hip"] + p["place_fast"] * fast + 0.3 * min(0.0, v_err)
        ahead = p["ahead"] + 0.5 * p["place_fast"] * fast
        knee = p["stance_knee"]
        over = max(0.0, fast - p["margin"])
        if over > 0.0:
            blend = min(1.0, over / 0.08)
            straight = min(0.75, knee + p["knee_fast"] * fast)
            leg = min(0.75, -0.35 + p["leg_fast"] * fast)
            catch = leg + 0.5 * (1.0 - straight)
            hip += blend * (max(hip, catch) - hip)
            knee += blend * (straight - knee)
            ahead = max(ahead, hip - 0.1)
        return knee, hip, min(0.85, ahead)

    def act(self, obs):
        p = self.p
        o = [float(x) for x in obs[:14]]
        hull, hull_w, vx, vy = o[:4]
        hip, dhip = (o[4], o[9]), (o[5], o[10])
        knee, dknee = (o[6], o[11]), (o[7], o[12])
        contact = (o[8] > 0.5, o[13] > 0.5)
        leg = [hip[i] + 0.5 * (knee[i] - 1.0) for i in (0, 1)]
        v_err = vx - p["v_ref"]
        m, k = self.m, 1 - self.m
        comp = p["pitch_comp"] * hull
        land_knee, land_hip, ahead = self.landing(v_err)
        self.n += 1

        hip_to = [None, None]
        knee_to = [0.0, 0.0]
        if self.phase == "swing":
            self.bend = min(self.bend + (0.06 if v_err > 0 else 0.03), p["stance_knee"])
            hip_to[m] = p["swing_hip"] - comp
            knee_to[m] = SWING_KNEE
            knee_to[k] = self.bend
            if hip[k] + comp < p["behind"] and (hip[m] + comp > ahead or self.n > 18):
                self.phase = "place"
                self.n = 0
        if self.phase == "place":
            hip_to[m] = float(np.clip(land_hip - comp, -0.2, 1.1))
            knee_to[m] = land_knee
            knee_to[k] = self.bend
            if contact[m]:
                self.phase = "push"
                self.n = 0
                hip_to[m] = None
                if vx < 0.1 and contact[k] and leg[m] < leg[k] - 0.1:
                    self.m, m, k = k, k, m      # stepped back: the rear leg shall push
                self.bend = min(knee[m], max(p["stance_knee"], land_knee))
        if self.phase == "push":
            knee_to[m] = self.bend
            knee_to[k] = 1.0
            if knee[k] > 0.88 or vx > p["v_limit"]:
                self.phase = "swing"
                self.n = 0
                self.m = k

        level = p["hull_p"] * (hull - p["hull_ref"]) + p["hull_d"] * hull_w
        a = np.zeros(4)
        for i in (0, 1):
            free = hip_to[i] is not None
            if free:
                a[2 * i] = p["hip_p"] * (hip_to[i] - hip[i]) - HIP_D * dhip[i]
            a[2 * i] += level * (p["swing_level"] if free else 1.0)
            a[2 * i + 1] = KNEE_P * (knee_to[i] - knee[i]) - KNEE_D * dknee[i] - p["vert_d"] * vy
        self.debug = {"phase": self.phase, "m": self.m, "v_err": round(v_err, 2),
                      "land_hip": round(land_hip, 2), "bend": round(self.bend, 2)}
        return np.clip(p["gain"] * a, -1.0, 1.0).astype(np.float32)


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
