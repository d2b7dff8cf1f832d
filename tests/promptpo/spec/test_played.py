"""Facts that a spec learns from played steps: rewards, endings, limits and bounds."""

import re
import time
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.envs.task import Task
from promptpo.spec.describe import describe_env
from promptpo.spec.observe import EpisodeEnd, Observed, Step, observe
from promptpo.spec.played import ends_seen, reward_seen


def observe_rewards(rewards: Any) -> Observed:
    """Return observed episodes with these rewards."""
    steps = [
        Step(n + 1, 0, 0, float(reward), 0, n == len(episode) - 1, {}, seed)
        for seed, episode in enumerate(rewards)
        for n, reward in enumerate(episode)
    ]
    endings = [EpisodeEnd(len(episode), terminated=True, truncated=False) for episode in rewards]
    return Observed(steps, len(steps), repeated=0, endings=endings)


@given(st.lists(st.lists(st.integers(-9, 9), min_size=1, max_size=30), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_reward_summary_covers_all_steps(rewards: Any) -> None:
    """Few distinct values are listed one by one, many as a range; each extreme comes with its place."""
    text, flat = reward_seen(observe_rewards(rewards)), [reward for episode in rewards for reward in episode]
    assert f"{min(flat)}" in text
    assert f"{max(flat)}" in text
    assert f"{len(flat)} steps" in text
    last = {episode[-1] for episode in rewards} - {reward for episode in rewards for reward in episode[:-1]}
    for value in last if len(set(flat)) in range(2, 7) else ():
        where = re.search(rf"(?<![-\d]){value} \(([^)]*)\)", text)
        assert where is not None
        assert "always at the end of an episode" in where[1]


@pytest.mark.parametrize(
    ("rare", "says"), [(1, {"999 of 1,000 steps", "1 of 1,000 steps"}), (10, {"99%", "1%"})]
)
def test_rare_reward_is_not_rounded_to_never(rare: int, says: set[str]) -> None:
    """Shares that would round to 0 or 100 % are given as counts."""
    text = reward_seen(observe_rewards([[1.0] * rare + [0.0] * (1000 - rare), [0.0]][:1]))
    assert {*re.findall(r"\(([^,)]*(?:,\d+)?[^,)]*)", text)} == says


ENDS = st.lists(st.tuples(st.integers(1, 90), st.booleans(), st.booleans()), min_size=1, max_size=9)


@given(ENDS)
@settings(max_examples=40, deadline=None)
def test_each_episode_is_counted_under_its_ending(ends: Any) -> None:
    """Lengths are given per ending; unfinished episodes have their own."""
    endings = [EpisodeEnd(*end) for end in ends]
    text = ends_seen(Observed([], 0, repeated=0, endings=endings))
    head, _, counts = text.partition(": ")
    assert head == f"{len(endings)} episodes of random actions"
    found = re.findall(r"(\d+) ([a-z ]+) after (\d+)(?: to (\d+))?(?=,| steps$)", counts)
    ways = {way: (int(n), low, high) for n, way, low, high in found}
    assert sum(n for n, _, _ in ways.values()) == len(endings)
    for way, terminated, truncated in (
        ("unfinished", False, False),
        ("terminated", True, False),
        ("truncated", False, True),
        ("terminated and truncated", True, True),
    ):
        steps = [end.steps for end in endings if end[1:] == (terminated, truncated)]
        high = str(max(steps)) if len({*steps}) > 1 else ""
        assert ways.get(way) == ((len(steps), str(min(steps)), high) if steps else None)


class Counting(gymnasium.Env[Any, Any]):
    """Ends by a count that random actions do not reach; observations leave their bounds."""

    observation_space = spaces.Box(0.0, 1.0, (2,))
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t, self.hunger, self.x = 0, 0, 0
        return self._see(), {}

    def _see(self) -> Any:
        return np.array([self.x, 0.5], np.float32)

    def step(self, action: Any) -> Any:
        self.t += 1
        self.hunger += 1
        self.x += 2 * int(action) - 1
        return self._see(), float(action), abs(self.x) > 4, self._late(), {}

    def _late(self) -> bool:
        return self.t >= 300


class Hungry(Counting):
    """What begins again when something is eaten counts no steps, although nothing was eaten here."""

    def step(self, action: Any) -> Any:
        if self.x > 1000:
            self.hunger = 0
        return super().step(action)

    def _late(self) -> bool:
        return self.hunger > 160


@pytest.mark.parametrize(("kind", "horizon"), [(Counting, 300), (Hungry, None)])
def test_unreached_limit_needs_a_counter_that_never_resets(kind: Any, horizon: Any) -> None:
    """The code resets the hunger counter, although it did not happen while observing."""
    spec, _ = describe_env(kind(), Task("Counting-v0"))
    assert spec.horizon == horizon


class Guess(gymnasium.Env[Any, Any]):
    """Pays for an action that is what it draws itself, in the way that the space draws."""

    observation_space = spaces.Box(0.0, 1.0, (1,))

    def __init__(self, action_space: Any) -> None:
        self.action_space = action_space

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.n = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.n += 1
        if isinstance(self.action_space, spaces.Discrete):
            drawn: Any = self.action_space.start + self.np_random.integers(self.action_space.n)
        else:
            drawn = self.np_random.uniform(-1, 1, self.action_space.shape).astype(np.float32)
        return np.zeros(1, np.float32), float(np.all(action == drawn)), False, self.n >= 40, {}


@pytest.mark.parametrize(
    "space", [spaces.Discrete(2), spaces.Discrete(4, start=1), spaces.Box(-1, 1, (2,))], ids=str
)
def test_random_actions_are_independent_of_the_environments_generator(space: Any) -> None:
    """Equal seeds once made sampled actions equal to the environment's own draws."""
    _, seen = describe_env(Guess(space), Task("Guess-v0"))
    right = float(np.mean([step.reward for step in [*seen.steps, *seen.more]]))
    assert right < 1.5 / getattr(space, "n", 9)


class Slow(Counting):
    """An environment whose steps wait."""

    def step(self, action: Any) -> Any:
        time.sleep(0.002)
        return super().step(action)


@pytest.mark.parametrize(("seconds", "episodes"), [(0.0, 1), (60.0, 4)])
def test_observing_slow_environments_is_limited(
    monkeypatch: pytest.MonkeyPatch, seconds: float, episodes: int
) -> None:
    """Beyond the limit only the first episode is observed, as far as it came, and nothing is played to its end."""
    monkeypatch.setattr("promptpo.spec.observe.MAX_SECONDS", seconds)
    observed = observe(gymnasium.wrappers.TimeLimit(Slow(), 400), "Slow-v0")
    assert len(observed.firsts) == episodes
    assert (len(observed.steps) > episodes) == (seconds > 0)
