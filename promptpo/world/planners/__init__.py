"""Policies that plan in a world model: model and planner as one module, which is a policy like any other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import jinja2
import numpy as np
from gymnasium import spaces

from promptpo.program import Program
from promptpo.world.baseline.tables import count_states
from sandbox import check_source

if TYPE_CHECKING:
    import gymnasium

Planner = Literal["values", "tree", "shooting"]

MOST_STATES = 5000
SIMULATIONS, DEPTH = 25, 100
"""Of the tree search, by which its work for one action is bounded."""

SAMPLES, ROUNDS, ELITES, AHEAD = 24, 3, 6, 20
"""Of the search for action sequences: plans in a round, rounds, plans that the next round starts from, and steps."""

WORK = max(SIMULATIONS * DEPTH, SAMPLES * ROUNDS * AHEAD)
"""Steps in the model that one planned action takes at most."""

MOST_CHOICES = 16
"""Combinations of choices that a tree is searched with; with more, each would be simulated once at most."""

DISCOUNT = 0.99

DRAWS = 40
"""Outcomes of each action that value iteration draws from a model with chance in it."""

MOST_MODELS = 3
"""Models that one policy plans in."""

PLANNERS_OWN = frozenset(
    [
        "PARAMS",
        "Policy",
        "Node",
        "MODELS",
        "ACTIONS_TO_TRY",
        "FUTURE",
        "SIMULATIONS",
        "DEPTH",
        "EXPLORE",
        "LOW",
        "HIGH",
        "SAMPLES",
        "ROUNDS",
        "ELITES",
        "FINE",
        "AHEAD",
        "MOST_STATES",
        "DRAWS",
        "SWEEPS",
        "new_world",
        "state_of",
        "outcomes",
        "plan",
    ]
)
"""Names of the planners' pieces; ``PARAMS`` of a model are not the policy's."""

SHARED = frozenset({"np", "math", "numpy"})
"""Names that mean the same in every model."""

_CHANCE = re.compile(r"\brng\s*\.|\brandom\b")


def planner_for(observation: gymnasium.Space[Any], action: gymnasium.Space[Any]) -> Planner | None:
    """What plans with these spaces; None where nothing here does."""
    states = count_states(observation)
    if isinstance(action, spaces.Discrete):
        return "values" if states is not None and states <= MOST_STATES else "tree"
    if isinstance(action, spaces.MultiDiscrete):
        return "tree" if int(np.prod(action.nvec)) <= MOST_CHOICES else None
    if isinstance(action, spaces.Box) and np.issubdtype(action.dtype or float, np.floating):
        bounded = bool(np.isfinite(action.low).all() and np.isfinite(action.high).all())
        return "shooting" if bounded else None
    return None


def planning_policy(
    world: str,
    params: Mapping[str, float] | None,
    observation: gymnasium.Space[Any],
    action: gymnasium.Space[Any],
    *,
    planner: Planner | None = None,
    others: Sequence[str] = (),
) -> str:
    """One policy module of a world model and a planner; empty where nothing plans with these spaces.

    With several models a sequence of actions counts as much as in the worst of them, and a tree is searched in each
    of them in turn; value iteration takes the first.

    Args:
        world: The model's module.
        params: Values for its ``PARAMS``; None keeps those that it has.
        observation: Of the task.
        action: Of the task.
        planner: Which; the usual one for the spaces by default.
        others: Modules of other models, which keep the values of their ``PARAMS``.
    """
    kind = planner or planner_for(observation, action)
    if kind is None:
        return ""
    program = Program.parse(world).with_values(params or {})
    text = _written(kind, [program], action)
    if others and kind != "values":
        several = [program, *map(Program.parse, others[: MOST_MODELS - 1])]
        together = _written(kind, several, action)
        text = together if check_source(together) is None else text
    return text


def _written(
    kind: Planner,
    programs: Sequence[Program],
    action: gymnasium.Space[Any],
) -> str:
    """The module of a planner and the models that it plans in."""
    models, sources = [], []
    taken = set(PLANNERS_OWN)
    for program in programs:
        takes_params = bool(program.params)
        apart, called = _apart(program, taken)
        taken |= apart.names
        values = f"{program.given(called['PARAMS'])}, " if takes_params else ""
        models.append((called["World"], values))
        sources.append(apart.without_docstring.strip())
    world = "\n".join(sources)
    first = programs[0]
    text = (
        _templates()
        .get_template(f"{kind}.py.j2")
        .render(
            about=first.docstring.splitlines()[0] if first.docstring else "How the task moves.",
            world=world,
            models=models,
            discount=DISCOUNT,
            simulations=SIMULATIONS,
            depth=DEPTH,
            samples=SAMPLES,
            rounds=ROUNDS,
            elites=ELITES,
            ahead=AHEAD,
            most_states=MOST_STATES,
            draws=DRAWS if _CHANCE.search(world) else 1,
            **_action_facts(action),
        )
    )
    return text.strip() + "\n"


def _apart(program: Program, taken: AbstractSet[str]) -> tuple[Program, dict[str, str]]:
    """A model whose names are none of those that are taken, and what its class and its ``PARAMS`` are called now."""
    called = {"World": "World", "PARAMS": "PARAMS"}
    for name in sorted(program.names & taken - SHARED):
        new = name
        while new in taken:
            program, before = program.renamed(new), program.names
            new = next(iter(program.names - before))
        called[name] = new
    return program, called


def _action_facts(action: Any) -> dict[str, Any]:
    if isinstance(action, spaces.Discrete):
        first, last = int(action.start), int(action.start + action.n - 1)
        return {"first": first, "choices": f"range({first}, {last + 1})"}
    if isinstance(action, spaces.MultiDiscrete):
        kind, shape = np.dtype(action.dtype).name, tuple(action.nvec.shape)
        each = (np.array(one) + action.start.ravel() for one in np.ndindex(*np.ravel(action.nvec).tolist()))
        listed = f"{[one.tolist() for one in each]}"
        return {"choices": f"[np.array(one, np.{kind}).reshape({shape}) for one in {listed}]"}
    return {
        "low": np.ravel(action.low).astype(float).tolist(),
        "high": np.ravel(action.high).astype(float).tolist(),
        "shape": tuple(action.shape),
        "dtype": np.dtype(action.dtype).name,
    }


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("promptpo.world.planners", "pieces"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - it writes Python, not HTML
    )
