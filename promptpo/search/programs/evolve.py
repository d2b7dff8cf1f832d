"""Which program to write next: untried structures first, then variations of the best."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from promptpo.program import Program
from promptpo.program.tunables import Range
from promptpo.search.programs.library import TERMS, read_genome, structures_for, write_program
from promptpo.search.programs.writer import Genome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptpo.llm.base import Situation

NARROWER = 0.5
"""A tuned parameter's range shrinks to this share around its value, unless it lies at a bound."""

REFINED_SLOTS = 2
"""From round 2 on so many samples continue from the best; the others try something new."""


def propose(situation: Situation) -> str:
    """The program for one sample; the same situation always gives the same program.

    Round 1 tries the library's structures in their order. Later rounds continue tuning the best program
    with narrower ranges (slot 0), add a term to it with its tuned numbers kept (slot 1), and try what
    has not been tried: first the rest of the library, then random variants.

    Where a table fits, it is written with another planning horizon each round: any other program of the same
    observation is a special case of it, and sharing the steps would only slow it.
    """
    observation, action = situation.observation_space, situation.action_space
    library = structures_for(observation, action)
    if library[0].structure == "table":
        return write_program(Genome("table", (), situation.round - 1), observation, action)
    parent = _best(situation) if situation.round > 1 else None
    if parent is None or situation.slot >= REFINED_SLOTS:
        fresh = _untried(situation, library, first=parent is None)
        return write_program(fresh, observation, action, seen=situation.firsts)
    genome, tuned = parent
    child = genome if situation.slot == 0 else _with_another_term(situation, genome)
    return write_program(child, observation, action, tuned, situation.firsts)


def _best(situation: Situation) -> tuple[Genome, dict[str, Range]] | None:
    """The best program of search so far: its genome and its narrowed ranges."""
    ran = [t for t in situation.tried if t.outcome == "ok" and t.score and all(map(math.isfinite, t.score))]
    for tried in sorted(ran, key=lambda tried: tried.score, reverse=True):
        genome = read_genome(tried.source)
        if genome is not None:
            return genome, narrowed(Program.parse(tried.source).params)
    return None


def narrowed(params: Mapping[str, Range]) -> dict[str, Range]:
    """Ranges around tuned values; a value at its bound moves its range along instead."""
    result = {}
    for name, (value, low, high) in params.items():
        width = high - low
        share = 1.0 if min(value - low, high - value) < 0.02 * width else NARROWER
        if low > 0:
            ratio = math.sqrt(high / low) ** share
            result[name] = (value, value / ratio, value * ratio)
        else:
            result[name] = (value, value - share * width / 2, value + share * width / 2)
    return result


def _untried(situation: Situation, library: list[Genome], *, first: bool) -> Genome:
    """The next structure of the library that no earlier round used, else a random variant."""
    used = {read_genome(tried.source) for tried in situation.tried}
    fresh = [genome for genome in library if genome not in used]
    place = situation.slot if first else situation.slot - REFINED_SLOTS
    return fresh[place] if place < len(fresh) else _fresh(situation, library)


def _fresh(situation: Situation, library: list[Genome]) -> Genome:
    rng = _rng(situation)
    base = rng.choice([genome for genome in library if genome.structure != "table"])
    terms = tuple(term for term in TERMS if term in base.terms or rng.random() < 1 / 3)
    return Genome(base.structure, terms, rng.randrange(1, 1000))


def _with_another_term(situation: Situation, parent: Genome) -> Genome:
    options = [term for term in TERMS if term not in parent.terms and term != "ordered"]
    rng = _rng(situation)
    if not options:
        return Genome(parent.structure, parent.terms, rng.randrange(1, 1000))
    chosen = {*parent.terms, rng.choice(options)}
    return Genome(parent.structure, tuple(term for term in TERMS if term in chosen), parent.variant)


def _rng(situation: Situation) -> random.Random:
    return random.Random(f"{situation.seed} {situation.round} {situation.slot}")  # noqa: S311 - no secret
