"""The step budget as a clock: how far tuning has come, and how long episodes are at this point."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptpo.search.tuning.archive import mean_or_worst
from promptpo.search.tuning.batches import return_of

if TYPE_CHECKING:
    from sandbox import Rollout

STAGES = (0.8, 0.92)
"""Shares of the search budget after which episodes get longer: short, medium, full."""

UNKNOWN_LENGTH = 1000
"""What an episode is taken to last before one was seen, where there is no horizon."""

SHORTEST = 130
"""Episodes are never cut to fewer steps than this."""

ENDINGS = 0.02
"""Where at least this share of the cut episodes terminated by themselves, what matters may come at the end
of an episode: they are cut only if ending is clearly a failure."""

CLEAR = 5
"""Ending is a failure where, in at least so many rollouts and three times as often as not, the episodes
that ended earned less than those beside them that did not."""

GENERATIONS = 300
"""So many generations are wanted in the first stage; a horizon is shortened only where the budget
would pay for fewer."""

FINAL_SHARE = 0.12
"""Share of the budget kept for the final choice at the full horizon."""

CLOSING_SHARE = 0.25
"""The final choice takes no more than this share where the search ends early: enough to find out the lucky."""

IN_VAIN_SHARE = 0.08
"""The same where no look showed a gain, and only single episodes far above all others are followed up."""


@dataclass
class Clock:
    """What has been spent of a budget.

    Shortening pays because an evaluation of a fifth of the length ranks gaits nearly as well as the
    whole episode and buys five times as many of them. It misleads where the reward comes late. So it is
    used only as far as the budget forces it, and not where episodes end by themselves, as at a goal;
    but where ending is a failure, as a fall, short episodes keep search from settling for survival, and
    are cut at no less than twice the length at which others fail. It is relaxed where most vectors look
    alike or none gets better; and the last stage is always at the full horizon.

    Attributes:
        steps: The whole budget, in environment steps.
        horizon: The full episode length; None where episodes end by themselves.
        population: Episodes in a typical generation of all structures together.
        spent: Steps taken so far.
        longest: Steps of the longest episode seen.
        typical: The largest mean length of a rollout's episodes seen.
        stretch: Factor on the shortest horizon.
        episodes: Episodes seen so far.
        endings: How many of them terminated by themselves.
        ended_steps: Steps of these.
        worse: Rollouts in which episodes that ended earned less than the others.
        better: Rollouts in which they earned as much or more.
        failing: Whether ending was found to be a failure; once found, it stays. It is one at once where every
            episode so far earned the same for each step: lasting longer is then all there is.
        cut: Whether an episode was ended before the full length, so that nobody knows how long it would have been.
        cheap: Whether one episode has to do for each vector, as while one structure has its chance alone.
        began: Steps taken when the present leg of the search began.
        ends: Steps at which it ends at the latest; None where it has all that is left for the search.
        rates: The returns per step that were seen; search needs to know only whether there is one or more.
    """

    steps: int
    horizon: int | None
    population: int
    spent: int = 0
    longest: int = 0
    typical: float = 0.0
    stretch: int = 1
    episodes: int = 0
    endings: int = 0
    ended_steps: int = 0
    worse: int = 0
    better: int = 0
    failing: bool = False
    rates: set[float] = field(default_factory=set)
    cut: bool = False
    cheap: bool = False
    began: int = 0
    ends: int | None = None

    def add(self, rollout: Rollout) -> None:
        """Count what a rollout took."""
        self.spent += rollout.steps
        self.longest = max([self.longest, *(episode.steps for episode in rollout.episodes)])
        self.typical = max(self.typical, rollout.steps / max(1, len(rollout.episodes)))
        self.episodes += len(rollout.episodes)
        ended = [episode for episode in rollout.episodes if episode.terminated]
        others = [episode for episode in rollout.episodes if not episode.terminated]
        self.cut = self.cut or any(episode.steps < (self.horizon or 0) for episode in others)
        self.endings += len(ended)
        self.ended_steps += sum(episode.steps for episode in ended)
        if ended and others:
            earned, kept = mean_or_worst([*map(return_of, ended)]), mean_or_worst([*map(return_of, others)])
            self.worse += earned < kept
            self.better += earned >= kept
            self.failing = self.failing or (self.worse >= CLEAR and self.worse > 3 * self.better)
        if len(self.rates) <= 1:
            self.rates.update(return_of(episode) / max(1, episode.steps) for episode in rollout.episodes)
        self.failing = self.failing or (self.endings >= CLEAR and self.lasting)

    @property
    def lasting(self) -> bool:
        """Whether every episode so far earned the same positive reward for each step."""
        return len(self.rates) == 1 and min(self.rates) > 0

    def lengthen(self) -> None:
        """Double the shortest horizon: the present one tells too little."""
        self.stretch *= 2

    def lengthen_within(self, most: int) -> bool:
        """Cut no more episodes, or only those above a length that can be paid; whether they may be of use so.

        How long episodes that were cut would have been is not known from these.

        Args:
            most: Steps that one episode may take.
        """
        whole = self.horizon is None or self.stage_horizon() == self.horizon
        if not self.cut or whole or (self.horizon or 0) <= most:
            self.stretch = max(self.stretch, math.ceil((self.horizon or 1) / SHORTEST))
            return True
        before = self.stretch
        while self.stage_horizon() != self.horizon and (self.stage_horizon() or 0) <= most:
            self.stretch *= 2
        self.stretch = max(before, self.stretch // 2)
        return self.stretch > before

    def close(self, *, in_vain: bool = False) -> None:
        """End the search: what is left, but for the final choice, is not spent."""
        share = IN_VAIN_SHARE if in_vain else CLOSING_SHARE
        self.steps = min(self.steps, self.spent + math.ceil(self.steps * share))

    def begin_leg(self, steps: int) -> None:
        """Begin another leg of the search, of so many steps at most."""
        self.began, self.ends = self.spent, self.spent + steps

    @property
    def fraction(self) -> float:
        """How much of the search budget (the budget without the final choice), or of its present leg, is spent."""
        return (self.spent - self.began) / max(1.0, self._search_end - self.began)

    @property
    def left(self) -> int:
        """Steps left, those for the final choice included."""
        return max(0, self.steps - self.spent)

    @property
    def all_left(self) -> int:
        """Steps left before the final choice; a generation that is begun may go beyond the end of a leg."""
        return max(0, int(self.steps * (1 - FINAL_SHARE)) - self.spent)

    @property
    def search_left(self) -> int:
        """Steps left before the final choice, or before the present leg ends."""
        return max(0, min(self.all_left, int(self._search_end) - self.spent))

    @property
    def _search_end(self) -> float:
        end = self.steps * (1 - FINAL_SHARE)
        return end if self.ends is None else min(end, self.ends)

    @property
    def stage(self) -> int:
        """0, 1, 2: short, medium and full episodes."""
        return sum(self.fraction >= share for share in STAGES)

    def stage_horizon(self) -> int | None:
        """Episode length to use now."""
        ends = self.endings > ENDINGS * self.episodes
        if self.horizon is None or (ends and not self.failing):
            return self.horizon
        affordable = self.steps * STAGES[0] / (self.population * GENERATIONS)
        shortest = min(self.horizon, self.stretch * max(SHORTEST, math.ceil(affordable), self.survived()))
        middle = math.ceil(math.sqrt(shortest * self.horizon))
        return (shortest, middle, self.horizon)[self.stage]

    def survived(self) -> int:
        """Twice the mean length at which episodes failed, rounded up to a power of two, so that it is steady."""
        return 2 ** math.ceil(math.log2(2 * self.ended_steps / self.endings)) if self.ended_steps else 0

    def whole_cost(self, episodes: int) -> int:
        """Steps that some whole episodes will take at most, also where all so far were cut short."""
        if self.cut and self.horizon is not None:
            return episodes * self.horizon
        return self.cost(episodes, self.horizon)

    def cost(self, episodes: int, horizon: int | None) -> int:
        """Steps that some episodes will take at most, by the horizon and by what has been seen.

        One episode may be twice as long as any before. Where episodes are short, and so many, their mean is
        taken to be at most twice that of any rollout before.
        """
        if not self.longest:
            return episodes * (horizon or UNKNOWN_LENGTH)
        longest = min(2 * self.longest, horizon or math.inf)
        worst = episodes * longest
        return math.ceil(min(worst, 2 * episodes * self.typical + longest) if longest < SHORTEST else worst)
