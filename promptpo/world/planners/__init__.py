"""Policies that plan in a world model: model and planner as one module, which is a policy like any other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
from gymnasium import spaces

from promptpo.program import Program

if TYPE_CHECKING:
    import gymnasium

SIMULATIONS, DEPTH = 25, 100
"""Of the tree search, by which its work for one action is bounded."""

SAMPLES, ROUNDS, ELITES, AHEAD = 24, 3, 6, 20
"""Of the search for action sequences: plans in a round, rounds, plans that the next round starts from, and steps."""

WORK = max(SIMULATIONS * DEPTH, SAMPLES * ROUNDS * AHEAD)
"""Steps in the model that one planned action takes at most."""

DISCOUNT = 0.99

PLANNERS_OWN = frozenset(
    [
        "PARAMS",
        "Policy",
        "Node",
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
    ]
)
"""Names of the planners' pieces; ``PARAMS`` of a model are not the policy's."""


def planning_policy(
    world: str,
    params: Mapping[str, float] | None,
    action: gymnasium.Space[Any],
) -> str:
    """One policy module of a world model and a planner; empty where nothing plans with these spaces.

    Args:
        world: The model's module.
        params: Values for its ``PARAMS``; None keeps those that it has.
        action: Of the task.
    """
    kind, facts = _planner(action)
    if not kind:
        return ""
    program = Program.parse(world).with_values(params or {})
    apart, params_name = program, "PARAMS"
    for name in sorted(program.names & PLANNERS_OWN):
        apart, before = apart.renamed(name), apart.names
        params_name = next(iter(apart.names - before)) if name == "PARAMS" else params_name
    values = f"{program.given(params_name)}, " if program.params else ""
    text = (
        _templates()
        .get_template(f"{kind}.py.j2")
        .render(
            about=program.docstring.splitlines()[0] if program.docstring else "How the task moves.",
            world=apart.without_docstring.strip(),
            model=f"World({values}obs, self.rng)",
            discount=DISCOUNT,
            simulations=SIMULATIONS,
            depth=DEPTH,
            samples=SAMPLES,
            rounds=ROUNDS,
            elites=ELITES,
            ahead=AHEAD,
            **facts,
        )
    )
    return text.strip() + "\n"


def _planner(action: Any) -> tuple[str, dict[str, Any]]:
    """What plans with an action space, and what its template asks about the space; nothing where nothing does."""
    if isinstance(action, spaces.Discrete):
        return "tree", {"choices": f"range({int(action.start)}, {int(action.start + action.n)})"}
    if (
        isinstance(action, spaces.Box)
        and action.is_bounded()
        and np.issubdtype(action.dtype or float, np.floating)
    ):
        return "shooting", {
            "low": np.ravel(action.low).astype(float).tolist(),
            "high": np.ravel(action.high).astype(float).tolist(),
            "shape": tuple(action.shape),
            "dtype": np.dtype(action.dtype).name,
        }
    return "", {}


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
