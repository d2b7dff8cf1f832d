"""Reward programs in the sandbox: the rewards of steps, restrictions, and failures."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo_sandbox import RewardFailedError, Sandbox, Trial
from promptpo_sandbox.answers import read_rewards
from promptpo_sandbox.asked import AskFailedError
from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.rewards import BLOCK, RewardedEpisode, numbers_in
from tests.sandbox.forged import odd_value, read_answer

LENGTH = 3 * BLOCK + 5


class Counting(gymnasium.Env[Any, Any]):
    """Counts its steps; the reward is the action, and info has numbers and other things."""

    observation_space: spaces.Space[Any] = spaces.Box(0, 10_000, (2,), np.float32)
    action_space = spaces.Discrete(3)

    def __init__(self, form: str = "box") -> None:
        if form == "dict":
            self.observation_space = spaces.Dict({"n": spaces.Discrete(10_000)})
        self.form = form

    def _observe(self) -> Any:
        self.seen[:] = self.n, self.start  # the same array at every step, as in some environments
        return self.seen if self.form == "box" else {"n": self.n}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin at 0."""
        super().reset(seed=seed)
        self.n, self.start, self.seen = 0, float(seed or 0), np.zeros(2, np.float32)
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        """Count."""
        self.n += 1
        info = {"n": np.int64(self.n), "one": np.array([1.5]), "text": "no number", "success": True}
        if self.n % 7 == 0:
            info["seventh"] = True
        return self._observe(), float(action), False, self.n >= LENGTH, info


POLICY = """
class Policy:
    def __init__(self):
        self.n = 0

    def act(self, obs):
        self.n += 1
        return self.n % 3
"""

REWARD = """
import numpy as np

class Reward:
    def __init__(self):
        self.calls = 0

    def step(self, obs, action, next_obs, env_reward, info):
        self.calls += 1
        before, after = (obs["n"], next_obs["n"]) if isinstance(obs, dict) else (obs[0], next_obs[0])
        if not isinstance(obs, dict):
            obs[:] = -1  # spoils its own copy
        steps = float(after - before)
        ok = info["n"] == self.calls and sorted(info) == (
            ["n", "one", "seventh", "success"] if self.calls % 7 == 0 else ["n", "one", "success"]
        )
        return 10.0 * steps + action - env_reward + info["one"] + (0 if ok else 1000), {
            "steps": steps, "first": float(self.calls == 1)
        }

    def success(self):
        return self.calls > 100
"""


@pytest.mark.parametrize("form", ["box", "dict"])
@pytest.mark.parametrize("lanes", [1, 3])
def test_every_step_is_rewarded_by_the_program(box: Sandbox, form: str, lanes: int) -> None:
    """Over several messages and lanes: with the episode's own observations, actions and numeric info, and a new object each."""
    envs = [Counting(form) for _ in range(lanes)]
    rollout = box.rollout(POLICY, envs, [Trial(seed) for seed in range(4)], record=True, reward=REWARD)
    assert rollout.failure is None
    for episode in rollout.episodes:
        assert episode.return_ == pytest.approx(11.5 * LENGTH)
        assert episode.env_return == pytest.approx(sum(n % 3 for n in range(1, LENGTH + 1)))
        assert episode.parts == {"steps": LENGTH, "first": 1.0}
        assert episode.success is True
        assert episode.trajectory is not None
        assert list(episode.trajectory.rewards) == pytest.approx([11.5] * LENGTH)
        assert episode.extremes == pytest.approx((11.5, 11.5))


def test_steps_count_up_to_the_horizon_or_a_failure(box: Sandbox) -> None:
    crashing = POLICY.replace("return", "if self.n > 9:\n            raise ValueError\n        return")
    cut = box.rollout(POLICY, [Counting()], [Trial(0, horizon=7)], reward=REWARD)
    assert cut.episodes[0].return_ == pytest.approx(11.5 * 7)
    assert cut.episodes[0].success is False
    crashed = box.rollout(crashing, [Counting()], [Trial(0)], reward=REWARD)
    assert crashed.episodes[0].return_ == pytest.approx(11.5 * 9)
    assert crashed.failure is not None


def test_without_a_program_the_environments_reward_counts(box: Sandbox) -> None:
    """There is no second return."""
    episode = box.rollout(POLICY, [Counting()], [Trial(0, horizon=6)]).episodes[0]
    assert (episode.return_, episode.success, episode.env_return, episode.parts) == (6.0, True, None, {})


def failing(step: str, more: str = "") -> str:
    """Return a program with this body of ``step`` from step 70 on."""
    return (
        "import math\nclass Reward:\n    n = -1\n    def __init__(self):\n        self.n = -1\n"
        "    def step(self, obs, action, next_obs, env_reward, info):\n        self.n += 1\n"
        f"        if self.n < 70:\n            return 1\n        {step}\n{more}"
    )


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        (failing("return 1 / 0"), "crashed", "at step 70: line 10: ZeroDivisionError"),
        (failing("return math.nan"), "rejected", "at step 70: Reward.step returned nan"),
        *(
            (failing(f"import numpy as np; return {value}"), "rejected", "return a finite number")
            for value in (
                "'much'",
                "1 + 0j",
                "np.complex128(1 + 2j)",
                "np.array([1j])",
                "np.array('2020', 'M8[Y]') - np.array('2019', 'M8[Y]')",
                "np.zeros(1, [('a', float)])[0]",
                "np.ones(2)",
                "[1.0]",
                "np.array(None)",
            )
        ),
        (failing("return 1, {'a': math.inf}"), "rejected", "the part a"),
        (failing("return 1, {'x' * 41: 1}"), "rejected", "name parts by texts"),
        (failing("return 1, {str(i): 1 for i in range(17)}"), "rejected", "at most 16"),
        (failing("return 1", "    def success(self):\n        return 'yes'\n"), "rejected", "True or False"),
        ("class Other:\n    pass", "rejected", "no class Reward"),
        ("class Reward:\n    pass", "rejected", "no method step"),
        ("import os\nclass Reward:\n    pass", "rejected", "os"),
    ],
)
def test_fault_of_a_program_gets_one_sentence(box: Sandbox, source: str, kind: str, words: str) -> None:
    """It has the step and the episode and blames the reward, not the policy."""
    with pytest.raises(RewardFailedError) as caught:
        box.rollout(POLICY, [Counting(), Counting()], [Trial(5), Trial(6)], reward=source)
    assert words in str(caught.value)
    assert caught.value.failure.kind == kind
    again = box.rollout(POLICY, [Counting()], [Trial(0, horizon=3)], reward=REWARD)
    assert again.failure is None  # the sandbox is still usable


def test_endless_program_is_ended() -> None:
    """Within the deadline of a call, as a fault of the reward."""
    from promptpo_sandbox import Limits

    with Sandbox(Limits(call_seconds=0.1)) as box, pytest.raises(RewardFailedError, match=r"0\.1 s; do less"):
        box.rollout(POLICY, [Counting()], [Trial(0)], reward=failing("while True: pass"))


def test_policy_cannot_detect_a_reward_program(box: Sandbox) -> None:
    """They share no process, and the policy acts the same with and without it."""
    seeing = """
class Policy:
    def __init__(self):
        self.total = 0.0

    def act(self, obs):
        self.total += float(obs.sum())
        return int(self.total) % 3
"""
    trials = [Trial(seed, horizon=90) for seed in (3, 4)]
    plain = box.rollout(seeing, [Counting()], trials, record=True)
    other = box.rollout(seeing, [Counting()], trials, record=True, reward=REWARD)
    for one, two in zip(plain.episodes, other.episodes, strict=True):
        assert one.trajectory is not None
        assert two.trajectory is not None
        assert list(one.trajectory.actions) == list(two.trajectory.actions)
        assert one.return_ == two.env_return


def test_repeated_episode_is_scored_once(box: Sandbox) -> None:
    """If a policy's guest is killed, the steps of its other episodes count once."""
    hanging = """
class Policy:
    def __init__(self):
        self.n = 0

    def act(self, obs):
        self.n += 1
        if obs[1] == 2 and self.n == 100:
            raise ValueError
        if obs[1] == 1 and self.n == 90:
            [0] * (10 ** 12)
        return self.n % 3
"""
    rollout = box.rollout(
        hanging,
        [Counting() for _ in range(3)],
        [Trial(seed) for seed in range(3)],
        stop_on_failure=False,
        reward=REWARD,
    )
    assert rollout.episodes[0].return_ == pytest.approx(11.5 * LENGTH)
    assert rollout.episodes[0].parts["first"] == 1.0
    assert [episode.failure is None for episode in rollout.episodes] == [True, False, False]


def test_rewards_can_be_computed_step_by_step(box: Sandbox) -> None:
    """The values equal those over a whole episode."""
    asked = box.rewarding(REWARD)
    env = Counting()
    rewarded = RewardedEpisode(asked, 0, env)
    rewarded.begin(0, env.reset(seed=0)[0])
    rewards = []
    for _ in range(3):
        rewarded.step(1)
        rewards.append(rewarded.latest()[0])
    assert rewards == pytest.approx([11.5] * 3)
    assert rewarded.end().parts == {"steps": 3.0, "first": 1.0}
    asked.close()


@pytest.mark.parametrize("seed", range(30))
def test_forged_answers_are_refused(seed: int) -> None:
    """The result is finite rewards of the right number, or a failure of the guest."""
    import random

    source = random.Random(seed)
    value = source.choice(
        [
            odd_value(source),
            (odd_value(source), {}, None),
            (np.zeros(3), odd_value(source), None),
            (np.zeros(3), {}, odd_value(source)),
            (np.full(3, math.nan), {}, None),
            (np.zeros(3), {"a": math.inf}, None),
        ]
    )
    try:
        payload = encode(value)
    except ValueError:
        return
    try:
        rewards, parts, success = read_answer(payload, partial(read_rewards, steps=3), 104)
    except AskFailedError:
        return
    assert len(rewards) == 3
    assert all(map(math.isfinite, [*rewards, *parts.values()]))
    assert success in (None, True, False)


def test_numbers_are_selected_from_info() -> None:
    """Plain and numpy numbers and arrays of size 1, but no other values."""
    info = {
        "a": 1,
        "b": np.float32(2.5),
        "c": True,
        "d": "x",
        "e": [1],
        "f": np.zeros(2),
        "g": np.array([4]),
        5: 6.0,
    }
    assert numbers_in(info) == {"a": 1.0, "b": 2.5, "c": 1.0, "g": 4.0}


@pytest.mark.parametrize("reward", ["", REWARD])
def test_numbers_of_info_are_recorded_on_request(box: Sandbox, reward: str) -> None:
    """Each step has one dict, with a reward program and without."""
    trials = [Trial(1, None, 10), Trial(2, None, 10)]
    envs = [Counting(), Counting()]
    recorded = box.rollout(POLICY, envs, trials, record="info", reward=reward)
    for episode in recorded.episodes:
        assert episode.trajectory is not None
        assert [info["n"] for info in episode.trajectory.infos] == list(range(1, 11))
        assert episode.trajectory.infos[6] == {"n": 7.0, "one": 1.5, "success": 1.0, "seventh": 1.0}
        assert len(episode.trajectory.observations) == 11
    plain = box.rollout(POLICY, envs, trials, record=True, reward=reward)
    assert [not e.trajectory.infos for e in plain.episodes if e.trajectory] == [True, True]


def test_number_of_part_names_is_limited(box: Sandbox) -> None:
    """A program must not fill a journal with names."""
    source = """
class Reward:
    def __init__(self):
        self.n = 0
    def step(self, obs, action, next_obs, env_reward, info):
        self.n += 1
        return 1.0, {f"part {self.n}": 1.0}
"""
    with pytest.raises(RewardFailedError, match="more than 16 parts"):
        box.rollout(POLICY, [Counting()], [Trial(0)], reward=source)
