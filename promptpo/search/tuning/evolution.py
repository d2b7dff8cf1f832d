"""Genetic programming over decision lists: rules that are found, varied, crossed and kept by their returns."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.program import Program
from promptpo.search.programs.genome import read_genome
from promptpo.search.programs.leaves import leaves_of
from promptpo.search.programs.looking import look
from promptpo.search.programs.reading import read_board
from promptpo.search.programs.rule_writer import write_decisions
from promptpo.search.programs.rules import DecisionList, Grammar, Rule, read_rules
from promptpo.search.programs.scene import Scene, Seen
from promptpo.search.programs.view import events
from promptpo.search.tuning.archive import mean_or_worst
from promptpo.search.tuning.batches import Batch, Finalist, Tuned, return_of, steps_of
from sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptpo.search.tuning.batches import Episodes, SeedSource, Start
    from promptpo.search.tuning.clock import Clock
    from sandbox import Episode, Trajectory

FIRST_SEED = 1000
SCOUTS, SCOUT_STEPS = 8, 250
"""Episodes of random actions, and steps of each, from which the scene is made out."""

CHILDREN = 12
"""Lists in a generation, those that are tried for the first time."""

ELITES = 3
ENOUGH = 16
"""An elite plays again until it has so many episodes."""

FEWEST_CHILDREN = 6
GENERATION_SHARE = 0.02
"""A generation takes about this share of the steps, or less."""

LONGER = 60
"""So many lists with one rule more are tried of each that takes the lead."""

PATIENCE = 25
"""So many generations without a new leader end the search where something was found and nothing is left to extend."""

FLAT_STEPS = 200
"""Episodes are cut to so many steps while no list has earned anything else than the others."""

PARENTS = 8
MOST_TELLING = 6
"""So many episodes in which much happened are kept beside the random ones."""

SEEDS = 2
"""Episodes of a list at its first trial."""


@dataclass(frozen=True, slots=True)
class Generation:
    """Several programs and the episodes to roll them out for; like a `Batch` of more than one."""

    parts: tuple[Batch, ...]

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All of them, program after program."""
        return tuple(trial for part in self.parts for trial in part.trials)

    def split(self, most: int) -> Iterator[Batch]:
        """Batches of one program each."""
        for part in self.parts:
            yield from part.split(most)


@dataclass
class _Known:
    """What is known of one list."""

    program: Program
    returns: list[float] = field(default_factory=list)
    novelty: float = 0.0


class RuleSearch:
    """Evolves a decision list; `ask` and `tell` alternate.

    The first generation acts at random, to see what the observation shows (`promptpo.search.programs.scene`).
    Then come lists of one rule, then variations of the best. Where returns are equal, a list in whose episodes
    more kinds of things happened is better, since it may be on the way to a reward; then the shorter one.

    Args:
        start: The candidate.
        seed: Decides everything random.
        seeds: Source of training seeds.
    """

    population = CHILDREN
    size = 20
    short_sighted = False
    flat = False
    ran = True

    def __init__(self, start: Start, seed: int, seeds: SeedSource) -> None:
        self.start = start
        self.steps = self.evaluations = 0
        self.finished = False
        self._seeds, self._rng = seeds, random.Random(f"rules {seed}")  # noqa: S311 - no secret
        self._leaves = leaves_of(start.observation_space) if start.observation_space is not None else None
        self._known: dict[DecisionList, _Known] = {}
        self._grammar: Grammar | None = None
        self._first: list[DecisionList] = []
        self._asked: list[DecisionList] = []
        self._extended: set[DecisionList] = set()
        self._next: list[DecisionList] = []
        self._idle = 0
        self._generation = 0
        self._width, self._episodes = CHILDREN, SEEDS
        self.scene: Scene | None = None
        self._telling: list[Trajectory] = []
        self._most = 0.0
        self.finished = self._leaves is None

    def score(self) -> float:
        """The best list's mean return, less its standard error."""
        best = self._ranked()[:1]
        return self._worth(best[0]) if best else -math.inf

    def ask(self, clock: Clock) -> Batch | Generation:
        """The next generation: at first random actions, then lists, on seeds that all of them share."""
        self._generation += 1
        if self._grammar is None:
            seeds = self._seeds(FIRST_SEED, SCOUTS)
            horizon = min(SCOUT_STEPS, clock.horizon or SCOUT_STEPS)
            trials = tuple(Trial(s, {"seed": float(i)}, horizon) for i, s in enumerate(seeds))
            return Batch(self.start.program, trials, record=True)
        self._pace(clock)
        again = [one for one in self._ranked()[: 2 * ELITES] if len(self._known[one].returns) < ENOUGH][
            :ELITES
        ]
        self._asked = [*again, *self._children()]
        length = whole = clock.horizon
        if whole is not None and len({value for k in self._known.values() for value in k.returns}) <= 1:
            length = min(whole, FLAT_STEPS)
        fresh = self._seeds(FIRST_SEED + 64 * self._generation, self._episodes)
        return Generation(
            tuple(
                Batch(self._known[one].program, tuple(Trial(s, None, length) for s in fresh), record=True)
                for one in self._asked
            )
        )

    def tell(self, episodes: Episodes) -> None:
        """Learn from a generation."""
        self.steps += steps_of(episodes)
        self.evaluations += len(episodes)
        if self._grammar is None:
            self._make_out([episode for episode in episodes if episode is not None])
            return
        for i, one in enumerate(self._asked):
            mine = episodes[self._episodes * i : self._episodes * (i + 1)]
            known = self._known[one]
            known.returns += map(return_of, mine)
            known.novelty = max(known.novelty, statistics.fmean(map(self._happened, mine)))
        self._look_again(episodes)
        leader = self._ranked()[0]
        self._idle = 0 if leader not in self._extended else self._idle + 1
        self.finished = (
            self._idle >= PATIENCE and not (self._first or self._next) and self.score() > self._lowest()
        )
        if leader not in self._extended and self._grammar is not None:
            self._extended.add(leader)
            longer = list(self._grammar.longer(leader))
            self._next = [*longer[:LONGER], *self._next][: 2 * LONGER]

    def reached(self, target: float) -> bool:
        """Whether the best list is as good as that in enough episodes."""
        best = self._ranked()[:1]
        return bool(best) and len(self._known[best[0]].returns) >= ENOUGH and self.score() >= target

    def finalists(self, n: int) -> list[Finalist]:
        """The best lists, those with the most episodes first among equals."""
        return [Finalist(self._known[one].program, {}) for one in self._ranked()[:n]] or [
            Finalist(self.start.program, self.start.program.values or {})
        ]

    def best(self) -> tuple[Finalist, float] | None:
        """The best list and its mean return."""
        best = self._ranked()[:1]
        if not best or not self._known[best[0]].returns:
            return None
        known = self._known[best[0]]
        return Finalist(known.program, {}), mean_or_worst(known.returns)

    def tuned(self, finalist: Finalist, score: float) -> Tuned:
        """The result with some list."""
        note = f"decision list found in {self.evaluations:,} episodes of {len(self._known)} lists"
        return Tuned(self.start.id, finalist.program, {}, score, self.steps, (note,))

    def _pace(self, clock: Clock) -> None:
        """How many lists and episodes a generation has: fewer where episodes are long for the budget."""
        length = max(1.0, clock.typical)
        affordable = GENERATION_SHARE * clock.steps / length
        self._episodes = SEEDS if affordable >= SEEDS * (CHILDREN + ELITES) else 1
        self._width = int(np.clip(affordable / self._episodes - ELITES, FEWEST_CHILDREN, CHILDREN))

    def _make_out(self, episodes: Sequence[Episode]) -> None:
        """What there is to see; a search that sees nothing is over."""
        whole = [e.trajectory for e in episodes if e.trajectory is not None and e.failure is None]
        actions = self.start.program.actions
        if whole and self._leaves is not None:
            seen = Seen([t.observations for t in whole], [t.actions for t in whole])
            self.scene = look(self._leaves, seen, actions)
            self._telling = whole
        scene = self.scene
        if scene is None or not (scene.targets or scene.numbers or scene.rows):
            self.finished = True
            return
        self._grammar = Grammar(scene, self._rng)
        before = [read for source in self.start.earlier if (read := read_rules(source)) is not None]
        self._first = [one for one in before if self._grammar.fits(one)] + list(self._grammar.first())

    def _look_again(self, episodes: Episodes) -> None:
        """Make out the scene anew where more happened than ever before: there may be more to see now."""
        counts = [self._happened(episode) for episode in episodes]
        best = max(range(len(counts)), key=counts.__getitem__)
        episode = episodes[best]
        if (
            counts[best] <= self._most
            or episode is None
            or episode.trajectory is None
            or self._leaves is None
        ):
            return
        self._most = counts[best]
        self._telling = [*self._telling[:SCOUTS], *self._telling[SCOUTS:][-MOST_TELLING:], episode.trajectory]
        seen = Seen([t.observations for t in self._telling], [t.actions for t in self._telling])
        scene = look(self._leaves, seen, self.start.program.actions, self.scene)
        if (
            scene is None
            or self.scene is None
            or (bool(scene.place), scene.view is None)
            != (
                bool(self.scene.place),
                self.scene.view is None,
            )
        ):
            return
        old = {target.name for target in self.scene.targets}
        self.scene, self._grammar = scene, Grammar(scene, self._rng)
        new = [target.name for target in scene.targets if target.name not in old]
        best_list = self._ranked()[0]
        acts = [*scene.acts, None]
        self._first = [
            DecisionList((Rule(target=name, act=act), *best_list.rules), best_list.fallback)
            for name in new
            for act in acts
        ] + self._first

    def _children(self) -> list[DecisionList]:
        grammar = self._grammar
        if grammar is None or self.scene is None:
            raise RuntimeError("look first")
        found: list[DecisionList] = []
        ranked = self._ranked()[:PARENTS]
        for _ in range(30 * CHILDREN):
            if len(found) == self._width:
                break
            if (self._first or self._next) and (len(found) < self._width * 3 // 4 or not ranked):
                one = (self._first or self._next).pop(0)
            elif ranked:
                parent = ranked[min(int(self._rng.expovariate(0.5)), len(ranked) - 1)]
                one = grammar.varied(parent, self._rng.choice(ranked))
                while self._rng.random() < 0.3:  # noqa: PLR2004 - now and then more than one change
                    one = grammar.varied(one, self._rng.choice(ranked))
            else:
                break
            if one not in self._known and grammar.fits(one):
                source = write_decisions(one, self.scene, 0)
                self._known[one] = _Known(Program.parse(source))
                found.append(one)
        return found

    def _ranked(self) -> list[DecisionList]:
        """The lists that were tried, best first."""
        tried = [one for one, known in self._known.items() if known.returns]
        spread = self._spread()
        return sorted(
            tried,
            key=lambda one: (self._worth(one, spread), self._known[one].novelty, -one.size),
            reverse=True,
        )

    def _worth(self, one: DecisionList, spread: float | None = None) -> float:
        returns = self._known[one].returns
        spread = self._spread() if spread is None else spread
        return mean_or_worst(returns) - spread / math.sqrt(len(returns))

    def _lowest(self) -> float:
        """The poorest mean return of a list: where it is the best as well, nothing has been found yet."""
        return min((mean_or_worst(k.returns) for k in self._known.values() if k.returns), default=math.inf)

    def _spread(self) -> float:
        """Standard deviation of the return of one list over seeds, pooled over the better half."""
        many = [k.returns for k in self._known.values() if len(k.returns) > 1]
        rows = sorted((r for r in many if math.isfinite(mean_or_worst(r))), key=mean_or_worst)[
            len(many) // 2 :
        ]
        return math.sqrt(statistics.fmean(map(statistics.variance, rows))) if rows else 0.0

    def _happened(self, episode: Episode | None) -> float:
        """How many kinds of changes an episode had, besides those of place."""
        if episode is None or episode.trajectory is None or self._leaves is None:
            return 0.0
        kinds: Counter[tuple[Any, ...]] = Counter()
        view, board = (self.scene.view, self.scene.board) if self.scene is not None else (None, None)
        if view is not None and board is not None:
            return float(
                len(
                    events(
                        view,
                        read_board(board, self._leaves, episode.trajectory.observations),
                        episode.trajectory.actions,
                    )
                )
            )
        for at, leaf in enumerate(self._leaves):
            values = np.stack([np.ravel(leaf.read(o)) for o in episode.trajectory.observations])
            if values.shape[1] > 1:  # of many, how many there are of each value
                for value in np.unique(values):
                    count = (values == value).sum(axis=1)
                    kinds.update((at, int(value), int(np.sign(d))) for d in np.unique(np.diff(count)) if d)
            else:
                kinds.update((at, int(a), int(b)) for a, b in zip(values[:-1, 0], values[1:, 0], strict=True))
        return float(len(kinds))


def grows(source: str) -> bool:
    """Whether a program is one whose rules are to be evolved."""
    genome = read_genome(source)
    return genome is not None and genome.structure == "agent"
