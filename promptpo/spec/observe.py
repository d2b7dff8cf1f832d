"""Watching an environment for a few steps of random actions: ranges, sample rows, and what a seed decides."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import sys
import threading
import time
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

from promptpo.crash_report import foreign_output, show_first_lines
from promptpo.envs.actions import seed_actions
from promptpo.envs.building import make_env
from promptpo.envs.contract import BUILDING, STEPPING, ContractEnv, patience
from promptpo.envs.family import family_of
from promptpo.envs.foreign import AnyEnv
from promptpo.envs.spaces import equal, leaves
from promptpo.spec.counters import StepCounters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from promptpo.envs.task import Task

SLOW_SECONDS = 5.0
"""Seconds after which describing an environment is announced."""

SEEDS = (0, 1, 2, 3)
STEPS_PER_EPISODE, FEWEST_STEPS = 50, 8

STARTS = range(100, 140)
"""Seeds of more starts, to see more texts."""

MOST_STEPS = 1000
"""About so many in all, however many variants a family has."""

WHOLE, MOST_OF_WHOLE, LOOKING_SECONDS = 3, 3000, 5.0
"""Episodes that are played to their end where no time limit bounds them; steps and seconds of this process that they take at most."""


MAX_KEPT_NUMBERS = 1000
"""Of an observation of those episodes; larger ones are not kept."""


@dataclass(frozen=True, slots=True)
class Step:
    """One observed step; `number` counts those of its episode, from 1."""

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
    """How an episode that was played ended.

    Attributes:
        steps: Its length so far.
        terminated: Whether the environment terminated it.
        truncated: Whether it was truncated; where neither, the look at it ended.
    """

    steps: int
    terminated: bool
    truncated: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """Observations from a few episodes of random actions.

    Attributes:
        steps: Every step of a few episodes, each of its own seed, in order.
        spent: Environment steps taken, those for the repetition included.
        repeats: Whether the first episode came out the same a second time.
        seconds: That all of them took.
        endings: How each episode that was played ended.
        starts: More first observations, where these hold texts.
        more: Steps of episodes that were played to their end; without observations where these are large.
        counters: Attributes of the environment that may count steps.
        left: Steps that may still be taken.
    """

    steps: Sequence[Step]
    spent: int
    repeats: bool
    seconds: float = 0.0
    endings: Sequence[EpisodeEnd] = ()
    starts: Sequence[Any] = ()
    more: Sequence[Step] = ()
    counters: StepCounters | None = None
    left: float = math.inf

    @property
    def firsts(self) -> Sequence[Any]:
        """The first observation of each episode."""
        return [next(steps).observation for _, steps in itertools.groupby(self.steps, lambda step: step.seed)]

    @property
    def observations(self) -> Sequence[Any]:
        """Every observation, first ones before all others."""
        more = (step.next_observation for step in self.more if step.next_observation is not None)
        return [*self.firsts, *(step.next_observation for step in self.steps), *more]

    @property
    def sampling(self) -> str:
        """The sample that was looked at, in words."""
        n = len(self.steps) + len(self.more)
        return f"{n:,} steps of random actions in {len(self.endings)} episodes"

    @property
    def whole(self) -> int | None:
        """The mean length of the episodes that ended by themselves among those that nothing bounds; None where none did."""
        ended = [ending.steps for ending in self.endings if ending.terminated or ending.truncated]
        return round(sum(ended) / len(ended)) if ended and self.more else None

    @property
    def one_start(self) -> bool:
        """Whether all episodes began with the same observation."""
        return all(equal(first, self.firsts[0]) for first in self.firsts) and len(self.firsts) > 1


@contextlib.contextmanager
def open_env(task: Task) -> Iterator[AnyEnv]:
    """The environment of a task, closed in the end; of what it prints meanwhile the first lines are shown."""
    shared = foreign_output()
    printed = io.StringIO() if shared is sys.stdout else shared  # no command has diverted it
    slow = (
        f"promptpo: describing {task.label} by random steps takes a while; a smaller --max-steps takes fewer."
    )
    timer = threading.Timer(SLOW_SECONDS, print, [slow], {"file": sys.stderr, "flush": True})
    timer.start()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            with patience(BUILDING, f"building {task.name}"):
                env = make_env(task)
            with contextlib.closing(env):
                yield env
    finally:
        timer.cancel()
        if isinstance(printed, io.StringIO):
            show_first_lines(printed.getvalue().splitlines())


def observe(env: AnyEnv, name: str, *, most_steps: int | None = None) -> Observed:
    """Take random actions from fixed seeds, so that the same environment shows the same again.

    Args:
        env: The environment; it is left in some state in the middle of an episode.
        name: For error messages.
        most_steps: About so many steps in all; None where nothing limits them.

    Raises:
        EnvironmentFaultError: The environment raised, or hung.
    """
    started = time.perf_counter()
    seeds = _seeds(env)
    most = math.inf if most_steps is None else most_steps
    limit = int(max(FEWEST_STEPS, min(STEPS_PER_EPISODE, min(MOST_STEPS, most / 2) // len(seeds))))
    counters = StepCounters(env)

    def episode(seed: int) -> list[Step]:
        steps = list[Step]()
        for step in itertools.islice(steps_of(env, seed, name), limit):
            steps.append(step)
            counters.note(step.number)
        return steps

    first, again, *others = (episode(seed) for seed in (seeds[0], *seeds))
    episodes = [first, *others]
    spent = len(again) + sum(map(len, episodes))
    whole = _whole(env, name, most - spent)
    endings = [*map(_ending, [*episodes, *whole])]
    texts = any(isinstance(leaf, spaces.Text) for _, leaf in leaves(env.observation_space))
    starts = [next(steps_of(env, seed, name)).observation for seed in (STARTS if texts else ())]
    return Observed(
        steps=[step for episode in episodes for step in episode],
        spent=spent + sum(map(len, whole)) + len(starts),
        starts=starts,
        repeats=_agree(first, again),
        seconds=time.perf_counter() - started,
        left=most - spent - sum(map(len, whole)),
        endings=endings,
        more=[step for episode in whole for step in episode],
        counters=counters,
    )


def _agree(episode: Iterable[Step], again: Iterable[Step]) -> bool:
    """Whether two courses returned the same and led to the same observations, as far as both go."""
    return all(
        a.reward == b.reward and equal(a.next_observation, b.next_observation)
        for a, b in zip(episode, again, strict=False)
    )


def _ending(episode: Sequence[Step]) -> EpisodeEnd:
    return EpisodeEnd(len(episode), episode[-1].terminated, episode[-1].truncated)


def _whole(env: AnyEnv, name: str, most: float) -> list[list[Step]]:
    """Episodes to their end, where no time limit is declared."""
    if family_of(env) is not None or (env.spec is not None and env.spec.max_episode_steps is not None):
        return []
    steps = map(_light, (step for seed in SEEDS[:WHOLE] for step in steps_of(env, seed, name)))
    return [list(episode) for _, episode in itertools.groupby(_soon(steps, most), key=lambda step: step.seed)]


def _light(step: Step) -> Step:
    """A step; of large observations nothing is kept."""
    large = size_of(step.next_observation) > MAX_KEPT_NUMBERS
    return replace(step, observation=None, next_observation=None) if large else step


def size_of(value: Any) -> int:
    """How many numbers or texts an observation holds."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else None
    return int(np.size(value)) if inner is None else sum(map(size_of, inner))


def _soon(steps: Iterable[Step], most: float) -> list[Step]:
    """As many steps as may be looked at in all, and none after the time for it."""
    played, until = list[Step](), time.process_time() + LOOKING_SECONDS
    for step in itertools.islice(steps, max(1, int(min(most, MOST_OF_WHOLE)))):
        played.append(step)
        if time.process_time() > until:
            break
    return played


def _seeds(env: AnyEnv) -> Sequence[int]:
    """Seeds to observe: at least two episodes of each variant of a family, those held out left out."""
    family = family_of(env)
    return SEEDS if family is None else range(max(len(SEEDS), 2 * len(family.task.family)))


def steps_of(
    env: AnyEnv,
    seed: int,
    name: str,
    *,
    acting: int | None = None,
) -> Iterator[Step]:
    """Steps of random actions until the episode ends; `acting` is the seed that draws them, where it is another."""
    contract = ContractEnv(env, name)
    with patience(STEPPING, f"a reset of {name}"):
        observation, _ = contract.reset(seed=seed)
        observation = deepcopy(observation)
    seed_actions(env.action_space, seed if acting is None else acting)
    for number in itertools.count(1):
        action = env.action_space.sample()
        with patience(STEPPING, f"a step of {name}"):
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
        one_episode: They change nothing: the same actions give the same episode.
        repeats: A seed decides an episode.
        steps: Environment steps that it took to find out.
        warnings: A sentence where a seed does not decide an episode, or changes nothing.
    """

    one_episode: bool = False
    repeats: bool = True
    steps: int = 0
    warnings: tuple[str, ...] = ()


def seeding_of(env: AnyEnv, task: Task, observed: Observed) -> Seeding:
    """Find out what seeds decide by playing again: here, in another instance, and under other seeds.

    Where code speaks of chance, episodes that are all the same are no proof: a draw may wait for what random actions do
    not bring about.

    Args:
        env: The environment; it is left in the middle of an episode.
        task: What it is made of.
        observed: What a few episodes of it showed.
    """
    compared = "so candidates are compared on different episodes; draw random numbers"
    if not observed.repeats:
        warning = (
            f"{task.name} does not repeat an episode when it is reset with the same seed, {compared} from "
            "self.np_random after super().reset(seed=seed)."
        )
        return Seeding(repeats=False, warnings=(warning,))
    begun = [step for step in observed.steps if step.seed == SEEDS[0]]
    with contextlib.closing(make_env(task)) as another:
        built_alike = _alike(another, SEEDS[0], begun, task.name)
    if not built_alike:
        warning = (
            f"two instances of {task.name} play different episodes under the same seed, {compared} in reset, from "
            "self.np_random, and not when it is built."
        )
        return Seeding(repeats=False, steps=len(begun), warnings=(warning,))
    if not observed.one_start or family_of(env) is not None:
        return Seeding(steps=len(begun))
    from promptpo.spec.chance import may_draw

    whole = _soon(steps_of(env, SEEDS[0], task.name), observed.left / 3)
    ended = whole[-1].terminated or whole[-1].truncated or len(whole) == MOST_OF_WHOLE
    steps = len(begun) + 3 * len(whole)
    if not ended or may_draw(env) or not all(_alike(env, seed, whole, task.name) for seed in SEEDS[1:3]):
        return Seeding(steps=steps)
    warning = (
        f"{task.name}: its seed changes nothing, all episodes of a policy are the same, so only a few are played, and "
        "no test tells how it does elsewhere; name other conditions with --held-out-kwargs."
    )
    return Seeding(one_episode=True, steps=steps, warnings=(warning,))


def _alike(env: AnyEnv, seed: int, steps: list[Step], name: str) -> bool:
    """Whether this seed gives these steps to the actions of the first seed."""
    return _agree(steps, steps_of(env, seed, name, acting=SEEDS[0]))
