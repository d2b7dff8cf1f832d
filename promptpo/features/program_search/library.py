"""The library of controller structures: which ones suit the spaces, and their programs."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import jinja2

from promptpo.features.program_search.actions import count_actions, write_action
from promptpo.features.program_search.features import count_states, key_function, read_observation
from promptpo.features.program_search.writer import Genome, Writer
from promptpo.program import Program
from promptpo.program.tunables import Range

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import gymnasium

    Space = gymnasium.Space[Any]

    from promptpo.llm.base import Situation


_MARKER = re.compile(
    r"^Structure: (?P<structure>linear|table)(?P<ordered> with ordered)?(?: \(variant (?P<variant>\d+)\))?$",
    re.MULTILINE,
)


def read_genome(source: str) -> Genome | None:
    """Return the genome named in a program's docstring; None for programs not written by search."""
    found = _MARKER.search(source)
    return found and Genome(found["structure"], bool(found["ordered"]), int(found["variant"] or 0))


STRATEGIES: Mapping[str, str] = {
    "linear": "A score is a weighted sum of numbers of the observation, each as its distance from its mean in standard deviations: "
    "a positive weight raises the score as its number grows, and the larger a weight, the more its number matters. ",
    "table": "A table from observation to action, learnt from the policy's own rollouts.",
}

MOST_TABLE_STATES = 5000
DISCOUNTS = (0.99, 0.995, 0.98, 0.999, 0.95)
"""Discount factors for planning, by variant of a table."""

MANY_WEIGHTS = 90
"""Number of weights above which the search uses directions, whose steps are a smaller share of the range."""

SIGN_BIAS = 0.1
"""Range of the bias if only the sign of one sum counts: a larger bias would dominate the weights."""


def structures_for(observation: Space, action: Space) -> list[Genome]:
    """Return the structures that suit two spaces, the most promising first.

    Raises:
        UnsupportedSpaceError: No program can be written for the spaces.
    """
    write_action(action)
    states, actions = count_states(observation), count_actions(action)
    found: list[Genome] = []
    if states is not None and states <= MOST_TABLE_STATES and actions:
        found.append(Genome("table"))
    found.append(Genome("linear"))
    if actions and actions > 2:  # noqa: PLR2004 - with two a scale and a choice are the same
        found.append(Genome("linear", ordered=True))
    return found


def write_program(
    genome: Genome,
    observation: Space,
    action: Space,
    tuned: Mapping[str, Range] | None = None,
    seen: Sequence[Any] = (),
    called: Mapping[str, str] | None = None,
) -> str:
    """Return a policy module for a genome.

    Args:
        genome: The genome.
        observation: Observation space.
        action: Action space.
        tuned: Ranges to use instead of the usual ones; weights without a range are left out.
        seen: Some observations, which show where their numbers lie.
        called: Names of components of the observation.
    """
    if genome.structure == "table":
        n, start = count_actions(action) or 1, int(getattr(action, "start", 0))
        discount = DISCOUNTS[genome.variant % len(DISCOUNTS)]
        actions, key = tuple(range(start, start + n)), (key_function(observation),)
        return _render(genome, "", key, actions=actions, discount=discount, writer=None)
    head = write_action(action, ordered=genome.ordered)
    features = read_observation(observation, seen, called)
    writer = Writer(genome, features, head.outputs, tuned or {})
    many = head.outputs * len(writer.inputs) > MANY_WEIGHTS
    return _render(
        genome,
        head.words,
        (*features.helpers, *head.helpers),
        writer=writer,
        gain=(5.0 if many else 2.0) if head.continuous else 1.0,
        bias=SIGN_BIAS if count_actions(action) == 2 else 1.0,  # noqa: PLR2004
        action=head.expression if head.outputs > 1 else head.expression.replace("u[0]", "score"),
    )


def _render(genome: Genome, words: str, helpers: Sequence[str], **values: Any) -> str:
    strategy, helpers = STRATEGIES[genome.structure] + words, tuple(dict.fromkeys(helpers))
    module = _templates().get_template("module.py.j2")
    text = module.render(genome=genome, strategy=strategy, helpers=helpers, **values)
    return leave_out(text.strip().replace("\n\n\n\n", "\n\n\n") + "\n")


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
"""Share to which a tuned parameter's range shrinks around its value."""


def leave_out(source: str, name: str = "\n") -> str:
    """Return a library's program without one parameter, which has its own lines, and without reads of unused numbers."""
    lines = [line for line in source.split("\n") if f'"{name}"' not in line]
    words = re.findall(r"\w+", "\n".join(lines))
    return "\n".join(
        line
        for line in lines
        if not ((read := re.match(r" {8}(\w+) = \(*obs\[", line)) and words.count(read[1]) == 1)
    )


def propose(situation: Situation) -> str:
    """Return the program for one sample; equal situations give equal programs.

    Round 1 tries the library's structures in order. Later rounds continue tuning the best program with narrower ranges (slot 0),
    drop the weaker half of its weights (slot 1), and start anew (other slots).

    If a table fits, it is written with another discount each round: any other program of the same observation is a special case
    of it, and sharing the steps would only slow it down.
    """
    observation, action = situation.observation_space, situation.action_space
    library = structures_for(observation, action)
    if library[0].structure == "table":
        return write_program(Genome("table", variant=situation.round - 1), observation, action)
    parent = _best(situation) if situation.round > 1 else None
    if parent is None or situation.slot > 1:
        fresh = replace(library[situation.slot % len(library)], variant=situation.round - 1)
        return write_program(fresh, observation, action, None, situation.seen, situation.names)
    genome, tuned = parent
    if situation.slot == 1:
        tuned = strongest(tuned)
    return write_program(genome, observation, action, tuned, situation.seen, situation.names)


def _best(situation: Situation) -> tuple[Genome, dict[str, Range]] | None:
    """Return the best program of the search so far: its genome and its narrowed ranges."""
    ran = [t for t in situation.tried if t.outcome == "ok" and t.score and all(map(math.isfinite, t.score))]
    for tried in sorted(ran, key=lambda tried: tried.score, reverse=True):
        genome = read_genome(tried.source)
        if genome is not None:
            return genome, narrow_ranges(Program.from_source(tried.source).params)
    return None


def narrow_ranges(params: Mapping[str, Range]) -> dict[str, Range]:
    """Return narrower ranges around tuned values, even for those at a bound."""
    wide = {name: (value, NARROWER * (high - low) / 2) for name, (value, low, high) in params.items()}
    return {name: (value, value - half, value + half) for name, (value, half) in wide.items()}


def strongest(params: Mapping[str, Range]) -> dict[str, Range]:
    """Return the parameters without the smaller half of the weights: of equally good programs, the shorter one is kept.

    Numbers are in standard deviations, so that the size of a weight shows its influence.
    """
    weights = sorted((n for n in params if not n.endswith("bias")), key=lambda name: abs(params[name][0]))
    weak = {*weights[: len(weights) // 2]}
    return {name: range_ for name, range_ in params.items() if name not in weak}
