"""Observe an environment under random actions: ranges, sample steps, and the effects of seeds."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import sys
import threading
import time
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

from promptpo.crash_report import foreign_output, show_first_lines
from promptpo.envs.actions import seed_actions
from promptpo.envs.building import make_env
from promptpo.envs.contract import BUILD_SECONDS, STEP_SECONDS, ContractEnv, patience
from promptpo.envs.family import family_of
from promptpo.envs.foreign import AnyEnv
from promptpo.envs.spaces import equal, leaves
from promptpo.spec.calls import CallRanks, trace_calls
from promptpo.spec.counters import StepCounters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from promptpo.envs.task import Task

SLOW_SECONDS = 5.0
"""Seconds of observing after which a message says that it takes a while."""

SEEDS = (0, 1, 2, 3)
STEPS_PER_EPISODE, MIN_STEPS = 50, 8

TEXT_SEEDS = range(100, 140)
"""Seeds of further initial observations if these hold text."""

MAX_STEPS = 1000
"""Approximate number of steps in all, however many variants a family has."""

FULL_EPISODES, MAX_FULL_STEPS, MAX_FULL_SECONDS = 3, 3000, 5.0
"""Episodes played to their end if no time limit bounds them, and the steps and CPU seconds that they may take."""

MAX_SECONDS = 60.0
"""Wall-clock seconds after which no further episode is observed; the current one ends."""

MAX_KEPT_NUMBERS = 1000
"""Size up to which observations of full episodes are kept, in numbers."""


@dataclass(frozen=True, slots=True)
class Step:
    """One observed step; `number` is its position in the episode, from 1."""

    number: int
    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool
    info: dict[str, Any]
    seed: int = 0
    truncated: bool = False


class EpisodeEnd(NamedTuple):
    """The end of a played episode.

    Attributes:
        steps: Its length so far.
        terminated: Whether the environment terminated it.
        truncated: Whether it was truncated; if neither, observing stopped before its end.
    """

    steps: int
    terminated: bool
    truncated: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """Observations from a few episodes of random actions.

    Attributes:
        steps: The steps of a few episodes with different seeds, in order.
        spent: Environment steps taken, including the repeated episode.
        repeated: Seed of an episode that was the same when repeated; None if there was none.
        seconds: Wall-clock time of all steps.
        endings: The end of each played episode.
        starts: Further initial observations if they hold text.
        more: Steps of episodes played to their end, without large observations.
        counters: Attributes of the environment that may count steps.
        left: Steps that may still be taken.
        called: The functions that steps and resets called.
    """

    steps: Sequence[Step]
    spent: int
    repeated: int | None
    seconds: float = 0.0
    endings: Sequence[EpisodeEnd] = ()
    starts: Sequence[Any] = ()
    more: Sequence[Step] = ()
    counters: StepCounters | None = None
    left: float = math.inf
    called: CallRanks = field(default_factory=dict)

    @property
    def firsts(self) -> Sequence[Any]:
        """The initial observation of each episode."""
        return [next(steps).observation for _, steps in itertools.groupby(self.steps, lambda step: step.seed)]

    @property
    def observations(self) -> Sequence[Any]:
        """All observations, initial ones first."""
        more = (step.next_observation for step in self.more if step.next_observation is not None)
        return [*self.firsts, *(step.next_observation for step in self.steps), *more]

    @property
    def sampling(self) -> str:
        """The size of the sample, in words."""
        n = len(self.steps) + len(self.more)
        return f"{n:,} steps of random actions in {len(self.endings)} episodes"

    @property
    def full_episode_length(self) -> int | None:
        """Mean steps of the episodes that ended, if no time limit is declared; None if none ended."""
        ended = [ending.steps for ending in self.endings if ending.terminated or ending.truncated]
        return round(sum(ended) / len(ended)) if ended and self.more else None

    @property
    def one_start(self) -> bool:
        """Whether all episodes have the same initial observation."""
        return all(equal(first, self.firsts[0]) for first in self.firsts) and len(self.firsts) > 1


@contextlib.contextmanager
def open_env(task: Task) -> Iterator[AnyEnv]:
    """Build a task's environment and close it at the end; show the first lines that it prints meanwhile."""
    shared = foreign_output()
    printed = io.StringIO() if shared is sys.stdout else shared  # some commands divert it already
    slow = f"promptpo: building {task.label} and sampling it with random actions takes a while."
    timer = threading.Timer(SLOW_SECONDS, print, [slow], {"file": sys.stderr, "flush": True})
    timer.start()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            with patience(BUILD_SECONDS, f"building {task.name}"):
                env = make_env(task)
            with contextlib.closing(env):
                yield env
    finally:
        timer.cancel()
        if isinstance(printed, io.StringIO):
            show_first_lines(printed.getvalue().splitlines())


def observe(env: AnyEnv, name: str, *, most_steps: int | None = None) -> Observed:
    """Take random actions under fixed seeds, so that observing an environment again gives the same result.

    Args:
        env: The environment; it is left in the middle of an episode.
        name: Its name in error messages.
        most_steps: Approximate number of steps in all; None for no limit.

    Raises:
        EnvironmentFaultError: The environment raised, or hung.
    """
    started = time.perf_counter()
    seeds = _seeds(env)
    most = math.inf if most_steps is None else most_steps
    limit = int(max(MIN_STEPS, min(STEPS_PER_EPISODE, min(MAX_STEPS, most / 2) // len(seeds))))
    counters, called = StepCounters(env), CallRanks()

    def episode(seed: int) -> list[Step]:
        steps = list[Step]()
        for step in itertools.islice(steps_of(env, seed, name), limit):
            steps.append(step)
            counters.note(step.number)
            if time.perf_counter() > started + MAX_SECONDS:
                break
        return steps

    with trace_calls(called):
        episodes = [
            episode(seed) for seed in seeds if seed == seeds[0] or time.perf_counter() < started + MAX_SECONDS
        ]
    repeated = None
    spent = sum(map(len, episodes))
    for seed, first in zip(seeds[:2], episodes, strict=False):  # some environments take seed 0 for none
        again = episode(seed)
        spent += len(again)
        if _have_same_steps(first, again):
            repeated = seed
            break
    whole = _play_full(env, name, most - spent)
    endings = [*map(_end_of, [*episodes, *whole])]
    texts = any(isinstance(leaf, spaces.Text) for _, leaf in leaves(env.observation_space))
    starts = [next(steps_of(env, seed, name)).observation for seed in (TEXT_SEEDS if texts else ())]
    return Observed(
        steps=[step for episode in episodes for step in episode],
        spent=spent + sum(map(len, whole)) + len(starts),
        starts=starts,
        repeated=repeated,
        seconds=time.perf_counter() - started,
        left=most - spent - sum(map(len, whole)),
        endings=endings,
        more=[step for episode in whole for step in episode],
        counters=counters,
        called=called,
    )


def _have_same_steps(episode: Iterable[Step], again: Iterable[Step]) -> bool:
    """Return whether two episodes have the same rewards and observations, over the shorter length."""
    return all(
        a.reward == b.reward and equal(a.next_observation, b.next_observation)
        for a, b in zip(episode, again, strict=False)
    )


def _end_of(episode: Sequence[Step]) -> EpisodeEnd:
    return EpisodeEnd(len(episode), episode[-1].terminated, episode[-1].truncated)


def _play_full(env: AnyEnv, name: str, most: float) -> list[list[Step]]:
    """Play episodes to their end if no time limit is declared."""
    if family_of(env) is not None or (env.spec is not None and env.spec.max_episode_steps is not None):
        return []
    steps = map(_drop_large, (step for seed in SEEDS[:FULL_EPISODES] for step in steps_of(env, seed, name)))
    return [list(episode) for _, episode in itertools.groupby(_take(steps, most), key=lambda step: step.seed)]


def _drop_large(step: Step) -> Step:
    """Drop the observations of a step if they are large."""
    large = size_of(step.next_observation) > MAX_KEPT_NUMBERS
    return replace(step, observation=None, next_observation=None) if large else step


def size_of(value: Any) -> int:
    """Return the number of numbers or texts in an observation."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else None
    return int(np.size(value)) if inner is None else sum(map(size_of, inner))


def _take(steps: Iterable[Step], most: float) -> list[Step]:
    """Take steps until their limit or the time limit for full episodes is reached."""
    played, until, late = (
        list[Step](),
        time.process_time() + MAX_FULL_SECONDS,
        time.perf_counter() + MAX_SECONDS,
    )
    for step in itertools.islice(steps, max(1, int(min(most, MAX_FULL_STEPS)))):
        played.append(step)
        if time.process_time() > until or time.perf_counter() > late:
            break
    return played


def _seeds(env: AnyEnv) -> Sequence[int]:
    """Return the seeds to observe: at least two for each variant of a family, held-out ones excepted."""
    family = family_of(env)
    return SEEDS if family is None else range(max(len(SEEDS), 2 * len(family.task.family)))


def steps_of(
    env: AnyEnv,
    seed: int,
    name: str,
    *,
    acting: int | None = None,
) -> Iterator[Step]:
    """Yield steps of random actions until the episode ends; `acting` is the seed of the actions if not `seed`."""
    contract = ContractEnv(env, name)
    with patience(STEP_SECONDS, f"a reset of {name}"):
        observation, _ = contract.reset(seed=seed)
        observation = deepcopy(observation)
    seed_actions(env.action_space, seed if acting is None else acting)
    for number in itertools.count(1):
        action = env.action_space.sample()
        with patience(STEP_SECONDS, f"a step of {name}"):
            following, reward, terminated, truncated, info = contract.step(action)
        contract.finite(reward)
        following = deepcopy(following)  # some environments return the same array at every step
        yield Step(
            number,
            observation,
            action,
            float(reward),
            following,
            bool(terminated),
            info,
            seed,
            bool(truncated),
        )
        observation = following
        if terminated or truncated:
            return


class Seeding(NamedTuple):
    """Effects of an environment's seeds.

    Attributes:
        one_episode: Whether seeds change nothing: the same actions always give the same episode.
        repeats: Whether a seed determines an episode.
        steps: Environment steps spent on finding out.
        warnings: A sentence if a seed does not determine an episode, or changes nothing.
    """

    one_episode: bool = False
    repeats: bool = True
    steps: int = 0
    warnings: tuple[str, ...] = ()


def seeding_of(env: AnyEnv, task: Task, observed: Observed) -> Seeding:
    """Determine the effects of seeds by replaying episodes in this instance, in another one, and under other seeds.

    If the source mentions random numbers, identical episodes prove nothing: random actions may not reach the draw.

    Args:
        env: The environment; it is left in the middle of an episode.
        task: Its configuration.
        observed: A few observed episodes.
    """
    compared = "so candidates are compared on different episodes; draw random numbers"
    if observed.repeated is None:
        warning = (
            f"{task.name} does not repeat an episode when it is reset with the same seed, {compared} from "
            "self.np_random after super().reset(seed=seed)."
        )
        return Seeding(repeats=False, warnings=(warning,))
    begun = [step for step in observed.steps if step.seed == observed.repeated]
    with contextlib.closing(make_env(task)) as another:
        built_alike = _have_same_steps(begun, steps_of(another, observed.repeated, task.name))
    if not built_alike:
        warning = (
            f"two instances of {task.name} play different episodes under the same seed, {compared} in reset, from "
            "self.np_random, rather than in the constructor."
        )
        return Seeding(repeats=False, steps=len(begun), warnings=(warning,))
    if not observed.one_start or family_of(env) is not None:
        return Seeding(steps=len(begun))
    from promptpo.spec.chance import may_draw

    whole = _take(steps_of(env, SEEDS[0], task.name), observed.left / 3)
    ended = whole[-1].terminated or whole[-1].truncated or len(whole) == MAX_FULL_STEPS
    steps = len(begun) + 3 * len(whole)
    if not ended or may_draw(env) or not all(_reproduces(env, seed, whole, task.name) for seed in SEEDS[1:3]):
        return Seeding(steps=steps)
    warning = (
        f"{task.name}: its seed changes nothing: all episodes of a policy are the same, so only a few are played, and "
        "no test shows how it does under other conditions; name some with --held-out-kwargs."
    )
    return Seeding(one_episode=True, steps=steps, warnings=(warning,))


def _reproduces(env: AnyEnv, seed: int, steps: list[Step], name: str) -> bool:
    """Return whether this seed reproduces these steps under the actions of the first seed."""
    return _have_same_steps(steps, steps_of(env, seed, name, acting=SEEDS[0]))
