"""The one race: whoever has to choose between programs compares them on starts that all of them played.

Paired successive elimination (Even-Dar, Mannor and Mansour, "Action Elimination and Stopping Conditions for the
Multi-Armed Bandit and Reinforcement Learning Problems", 2006): all arms play the same starts, a block at a time, and
whoever is clearly worse than the one in front drops out. A champion stays in front until another is ahead of it by more
than the standard error of their paired difference on the starts that both played; luck of fresh starts changes nothing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.run.evidence import Change, Difference, Evidence

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import EpisodeRecord

AHEAD = 1.0
"""Standard errors of the paired difference by which another takes the champion's place. Less lets luck in, more keeps what
is worse: in simulated runs of four rounds two standard errors return a policy that is worse by a tenth of the noise."""


@dataclass(frozen=True, slots=True)
class Course:
    """What a race may spend.

    Attributes:
        starts: Seeds, in the order in which all arms play them.
        block: Of these at once.
        steps: Environment steps that it may take beyond the first block; None without a limit.
        first: Whether the first block is played whatever it costs, also by an arm that is alone and has played no start.
    """

    starts: Sequence[int]
    block: int
    steps: int | None = None
    first: bool = False


class Race:
    """A race that is stepped: `ask` what is to be played, `tell` what came out, until nothing is asked.

    Args:
        arms: What is known of each, the most promising first.
        course: What it may spend.
        champion: Who is in front until another is better beyond noise; without one, the best mean is.
        target: A lone arm above this plays on until its mean is so beyond noise, in `course`.

    Attributes:
        evidence: What is known of each arm by now.
        front: Who is in front; empty without arms.
        alive: Who is still in it, the one in front included.
    """

    def __init__(
        self,
        arms: Mapping[str, Evidence],
        course: Course,
        *,
        champion: str = "",
        target: float | None = None,
    ) -> None:
        self.evidence = dict(arms)
        self._course, self._champion, self._target = course, champion if champion in arms else "", target
        self.alive = list(arms)
        self._taken, self._begun = 0, False
        self.front = self._champion
        self._eliminate()

    @property
    def change(self) -> Change | None:
        """What the race has changed; nothing where the champion is in front still."""
        if not self.front or self.front == self._champion:
            return None
        before = self.evidence.get(self._champion, Evidence())
        return Change(self._champion, self.front, self.evidence[self.front].against(before))

    def ask(self) -> dict[str, tuple[int, ...]]:
        """The starts that each arm is to play next; nothing where the race is over."""
        if not self._open():
            return {}
        wanted = self._next()
        first = not self._begun and self._course.first
        cost = sum(len(seeds) * self._length(arm) for arm, seeds in wanted.items())
        over = self._course.steps is not None and self._taken + cost > self._course.steps
        return {} if over and not first else wanted

    def tell(self, played: Mapping[str, Sequence[EpisodeRecord]]) -> None:
        """Take in what came out; an arm whose episodes are missing or not finite is out."""
        self._begun = True
        for arm, episodes in played.items():
            self._taken += sum(episode.steps for episode in episodes)
            self.evidence[arm] = Evidence.of(self.evidence[arm].episodes, episodes)
            if not episodes or not all(math.isfinite(episode.return_) for episode in episodes):
                self.alive = [one for one in self.alive if one != arm]
        self._eliminate()

    def _next(self) -> dict[str, tuple[int, ...]]:
        """The first block of starts that somebody who is alive has not played, each without those that it has."""
        known = {arm: {e.seed for e in self.evidence[arm].episodes} for arm in self.alive}
        missing = [s for s in self._course.starts if any(s not in seen for seen in known.values())]
        block = missing[: self._course.block]
        wanted = {arm: tuple(s for s in block if s not in seen) for arm, seen in known.items()}
        return {arm: seeds for arm, seeds in wanted.items() if seeds}

    def _open(self) -> bool:
        if not self._next():
            return False
        if len(self.alive) == 1:
            alone = self.evidence[self.alive[0]]
            fresh = not any(episode.seed in self._course.starts for episode in alone.episodes)
            return (self._course.first and fresh) or self._unsure(alone)
        size = max(map(abs, self.evidence[self.front].returns), default=0.0)
        others = (arm for arm in self.alive if arm != self.front)
        return any(self._ahead(arm).open(size) for arm in others)

    def _unsure(self, evidence: Evidence) -> bool:
        """Whether a lone arm is above the target, and noise or few episodes could explain it."""
        if self._target is None or not evidence.mean_return >= self._target:
            return False
        return not evidence.holds(self._target)

    def _eliminate(self) -> None:
        """Who is in front, and without those that are clearly worse."""
        self.front = self._leader()
        self.alive = [arm for arm in self.alive if arm == self.front or self._ahead(arm).verdict >= 0]

    def _leader(self) -> str:
        if not self.alive:
            return ""
        if self._champion in self.alive:
            better = [arm for arm in self.alive if self._over(arm, self._champion).beyond(AHEAD) > 0]
            return max(better, key=lambda arm: self._over(arm, self._champion).mean, default=self._champion)
        front = self.alive[0]
        for arm in self.alive[1:]:
            if self.evidence[arm].lead(self.evidence[front]) > 0:
                front = arm
        return front

    def _over(self, arm: str, other: str) -> Difference:
        return self.evidence[arm].against(self.evidence[other])

    def _ahead(self, arm: str) -> Difference:
        return self._over(arm, self.front)

    def _length(self, arm: str) -> float:
        """Steps of an episode of one arm, or of any where it has none yet."""
        own = [e.steps for e in self.evidence[arm].episodes]
        return statistics.fmean(
            own or [e.steps for one in self.evidence.values() for e in one.episodes] or [0]
        )


async def race(
    arms: Race,
    play: Callable[[Mapping[str, Sequence[int]]], Awaitable[Mapping[str, Sequence[EpisodeRecord]]]],
) -> Race:
    """Step a race to its end.

    Args:
        arms: The race.
        play: Plays starts with arms, all at once.
    """
    while wanted := arms.ask():
        arms.tell(await play(wanted))
    return arms
