"""The library of controller structures: which ones suit the spaces, and how each becomes a program."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import jinja2

from promptpo.features.program_search.actions import count_actions, write_action
from promptpo.features.program_search.features import Features, count_states, key_function, read_observation
from promptpo.features.program_search.writer import Genome, Writer
from promptpo.program import Program
from promptpo.program.tunables import Range, round_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import gymnasium

    Space = gymnasium.Space[Any]

    from promptpo.llm.base import Situation


_MARKER = re.compile(
    r"^Structure: (?P<structure>[a-z_]+)(?: with (?P<terms>[a-z_, ]+))?(?: \(variant (?P<variant>\d+)\))?$",
    re.MULTILINE,
)

TERMS = ("rates", "ordered")
"""Additions to a structure: rates of change, and taking discrete actions as an ordered scale."""


def read_genome(source: str) -> Genome | None:
    """The genome that a program's docstring names; None for programs that search did not write."""
    found = _MARKER.search(source)
    if found is None:
        return None
    terms = tuple(term for term in (found["terms"] or "").split(", ") if term)
    if any(term not in TERMS for term in terms):
        return None
    return Genome(found["structure"], terms, int(found["variant"] or 0))


STRATEGIES: Mapping[str, str] = {
    "linear": "Every output is a weighted sum of the observation's numbers: a positive weight raises the output as its number "
    "grows. A comparison or a limit makes it an action.",
    "gated": "Two weighted sums per output, one for each side of a gate that is itself a weighted sum: "
    "near the goal the policy behaves differently from far away.",
    "table": "A table from observation to action, learnt from the policy's own rollouts.",
}

MOST_TABLE_STATES = 5000
DISCOUNTS = (0.99, 0.995, 0.98, 0.999, 0.95)
"""Planning horizons that the variants of a table use."""

MANY_WEIGHTS = 90
"""More are searched along directions, in steps that are a smaller share of their range."""

SIGN_BIAS = 0.1
"""Where only the sign of one sum counts, a bias as large as the weights would leave nothing to these."""


def structures_for(observation: Space, action: Space) -> list[Genome]:
    """The structures that suit two spaces, the most promising first.

    Raises:
        UnsupportedSpaceError: Nothing can be written for them.
    """
    head = write_action(action)
    states, actions = count_states(observation), count_actions(action)
    found: list[Genome] = []
    if states is not None and states <= MOST_TABLE_STATES and actions:
        found.append(Genome("table"))
    found.append(Genome("linear"))
    if not head.continuous and actions and actions > 2:  # noqa: PLR2004 - with two a scale and a choice are the same
        found += [Genome("linear", ("ordered",)), Genome("gated", ("ordered",))]
    found += [Genome("gated"), Genome("linear", ("rates",))]
    return found


def write_program(
    genome: Genome,
    observation: Space,
    action: Space,
    tuned: Mapping[str, Range] | None = None,
    seen: Sequence[Any] = (),
    called: Mapping[str, str] | None = None,
) -> str:
    """A policy module for a genome.

    Args:
        genome: What to write.
        observation: What the policy sees.
        action: What it returns.
        tuned: Ranges to use instead of the usual ones; what has none of these weights is left out.
        seen: Some observations, which say where their numbers lie.
        called: What parts of an observation are called.
    """
    if genome.structure == "table":
        return _table(genome, observation, action)
    head = write_action(action, ordered="ordered" in genome.terms)
    features = read_observation(observation, seen, called, spread=head.continuous)
    writer = Writer(genome, features, head.outputs, frozenset(tuned or ()))
    many = head.outputs * len(writer.inputs) > MANY_WEIGHTS
    body = (
        _templates()
        .get_template(f"{genome.structure}.py.j2")
        .render(
            writer=writer,
            outputs=range(head.outputs),
            gain=(5.0 if many else 2.0) if head.continuous else 1.0,
            bias=SIGN_BIAS if count_actions(action) == 2 else 1.0,  # noqa: PLR2004
            action=head.expression,
        )
    )
    params = {name: (tuned or {}).get(name, range_) for name, range_ in writer.params.items()}
    return _module(genome, features, head.helpers, body, params)


def _module(
    genome: Genome, features: Features | None, helpers: Sequence[str], body: str, params: Mapping[str, Range]
) -> str:
    text = (
        _templates()
        .get_template("module.py.j2")
        .render(
            strategy=STRATEGIES[genome.structure],
            genome=genome,
            params={name: tuple(map(round_value, range_)) for name, range_ in params.items()},
            helpers=tuple(dict.fromkeys((*(features.helpers if features else ()), *helpers))),
            features=features,
            body=body.strip(),
        )
    )
    lines = (line.rstrip() for line in text.splitlines())
    return "\n".join(lines).strip().replace("\n\n\n\n", "\n\n\n") + "\n"


def _table(genome: Genome, observation: Space, action: Space) -> str:
    n, start = count_actions(action) or 1, int(getattr(action, "start", 0))
    body = (
        _templates()
        .get_template("table.py.j2")
        .render(actions=tuple(range(start, start + n)), discount=DISCOUNTS[genome.variant % len(DISCOUNTS)])
    )
    return _module(genome, None, (key_function(observation),), body, {})


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("promptpo.features.program_search", "structures"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - it writes Python, not HTML
    )


NARROWER = 0.5
"""A tuned parameter's range shrinks to this share around its value, unless it lies at a bound."""


def propose(situation: Situation) -> str:
    """The program for one sample; the same situation always gives the same program.

    Round 1 tries the library's structures without memory in their order. Later rounds continue tuning the best program
    with narrower ranges (slot 0), leave out the weaker half of its weights (slot 1), and try what has not been tried: first the rest of the library, then variants.

    Where a table fits, it is written with another planning horizon each round: any other program of the same
    observation is a special case of it, and sharing the steps would only slow it.
    """
    observation, action = situation.observation_space, situation.action_space
    library = structures_for(observation, action)
    if library[0].structure == "table":
        return write_program(Genome("table", (), situation.round - 1), observation, action)
    parent = _best(situation) if situation.round > 1 else None
    if parent is None or situation.slot > 1:
        fresh = _next_structure(situation, library, first=parent is None)
        return write_program(fresh, observation, action, None, situation.seen, situation.names)
    genome, tuned = parent
    if situation.slot == 1:
        tuned = strongest(tuned)
    return write_program(genome, observation, action, tuned, situation.seen, situation.names)


def _best(situation: Situation) -> tuple[Genome, dict[str, Range]] | None:
    """The best program of search so far: its genome and its narrowed ranges."""
    ran = [t for t in situation.tried if t.outcome == "ok" and t.score and all(map(math.isfinite, t.score))]
    for tried in sorted(ran, key=lambda tried: tried.score, reverse=True):
        genome = read_genome(tried.source)
        if genome is not None:
            return genome, narrow_ranges(Program.from_source(tried.source).params)
    return None


def narrow_ranges(params: Mapping[str, Range]) -> dict[str, Range]:
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


def strongest(params: Mapping[str, Range]) -> dict[str, Range]:
    """The parameters without the smaller half of the weights: of programs that are as good the shorter one is kept.

    Numbers are in standard deviations, so that the size of a weight says how much it moves.
    """
    weights = sorted((name for name in params if "_" in name), key=lambda name: abs(params[name][0]))
    weak = {*weights[: len(weights) // 2]}
    return {name: range_ for name, range_ in params.items() if name not in weak}


def _next_structure(situation: Situation, library: list[Genome], *, first: bool) -> Genome:
    """The next structure of the library that no earlier round used, else another variant of one."""
    if first and not situation.tried:  # the more structures race, the later the first has its numbers
        usual = [genome for genome in library if "rates" not in genome.terms]
        return usual[situation.slot % len(usual)]
    used = {read_genome(tried.source) for tried in situation.tried}
    fresh = [genome for genome in library if genome not in used]
    place = situation.slot if first else situation.slot - 2
    if place < len(fresh):
        return fresh[place]
    return replace(library[place % len(library)], variant=1 + situation.round * len(library) + place)
