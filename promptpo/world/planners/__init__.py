"""Policies that plan in a world model: model and planner as one module, which is a policy like any other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import jinja2
import numpy as np
from gymnasium import spaces

from promptpo.program import Program
from promptpo.world.baseline.tables import count_states

if TYPE_CHECKING:
    import gymnasium

Planner = Literal["values", "tree", "shooting"]

MOST_STATES = 5000
SIMULATIONS, DEPTH = 25, 100
"""Of the tree search, by which its work for one action is bounded."""

SAMPLES, ROUNDS, ELITES, AHEAD = 24, 3, 6, 20
"""Of the search for action sequences: plans in a round, rounds, plans that the next round starts from, and steps."""

DISCOUNT = 0.99

DRAWS = 40
"""Outcomes of each action that value iteration draws from a model with chance in it."""

_CHANCE = re.compile(r"\brng\s*\.|\brandom\b")


def planner_for(observation: gymnasium.Space[Any], action: gymnasium.Space[Any]) -> Planner | None:
    """What plans with these spaces; None where nothing here does."""
    states = count_states(observation)
    if isinstance(action, spaces.Discrete):
        return "values" if states is not None and states <= MOST_STATES else "tree"
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
) -> str:
    """One policy module of a world model and a planner; empty where nothing plans with these spaces.

    Args:
        world: The model's module.
        params: Values for its ``PARAMS``; None keeps those that it has.
        observation: Of the task.
        action: Of the task.
        planner: Which; the usual one for the spaces by default.
    """
    kind = planner or planner_for(observation, action)
    if kind is None:
        return ""
    program = Program.parse(world).with_values(params or {})
    takes_params = bool(program.params)
    if takes_params:
        program, before = program.renamed("PARAMS"), program.names
        called = next(iter(program.names - before))
    if "Policy" in program.names:
        program = program.renamed("Policy")
    text = (
        _templates()
        .get_template(f"{kind}.py.j2")
        .render(
            about=program.docstring.splitlines()[0] if program.docstring else "How the task moves.",
            world=program.without_docstring.strip(),
            values=f"{{name: entry[0] for name, entry in {called}.items()}}, " if takes_params else "",
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


def _action_facts(action: Any) -> dict[str, Any]:
    if isinstance(action, spaces.Discrete):
        return {"first": int(action.start), "last": int(action.start + action.n - 1)}
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
