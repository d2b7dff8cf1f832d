"""From the best candidate to one readable file that runs without promptpo."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import gymnasium
    import jinja2

    from promptpo.envs.task import Task

MARKER = "# --- the policy ends here; what follows was added by promptpo ---"
"""First line of the added part; `policy_part` cuts a file there before it goes into the sandbox."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the header of an exported file says.

    Attributes:
        task: What the policy is for.
        model: Who wrote it, for example "anthropic:claude-…"; or "program search (no language model)".
        version: Of promptpo.
        run_id: Name of the run directory.
        candidate: Id of the candidate.
        date: ISO date.
        test: Mean return, its interval and the number of episodes on test seeds; None before the test.
        success_rate: On test seeds; None where the environment does not report success.
        test_seeds: First and last.
    """

    task: Task
    model: str
    version: str
    run_id: str
    candidate: str
    date: str
    test: tuple[float, tuple[float, float], int] | None = None
    success_rate: float | None = None
    test_seeds: tuple[int, int] | None = None


def exported(
    source: str,
    provenance: Provenance,
    *,
    action_space: gymnasium.Space[Any] | None,
    filename: str = "policy.py",
) -> str:
    """The text of the exported file.

    Args:
        source: The candidate's module; tuned values are already in its ``PARAMS``.
        provenance: For the header.
        action_space: Its bounds are applied by ``predict``, as they were during evaluation.
        filename: For the usage line.
    """
    docstring, body = _split_docstring(source)
    low, high, dtype = _bounds(action_space)
    construction, resets = _construction(source)
    return _template().render(
        title=f"Policy for {provenance.task.name}, written by {provenance.model}.",
        facts=_facts(provenance),
        filename=filename,
        docstring=docstring.replace("\\", "\\\\").replace('"""', "'''"),
        body=body.strip("\n"),
        marker=MARKER,
        construction=construction,
        resets=resets,
        low=low,
        high=high,
        dtype=dtype,
        env_id=provenance.task.env_id,
        env_kwargs=json.dumps(dict(provenance.task.env_kwargs)),
        max_episode_steps=provenance.task.max_episode_steps,
    )


def policy_part(text: str) -> str:
    """The candidate's own module in an exported file (or in any other policy file)."""
    return text.split(MARKER, 1)[0].rstrip() + "\n"


@cache
def _template() -> jinja2.Template:
    import jinja2

    env = jinja2.Environment(
        loader=jinja2.PackageLoader("promptpo.output", "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - Python, not HTML
    )
    env.filters["pyrepr"] = repr
    return env.get_template("policy.py.j2")


def _facts(provenance: Provenance) -> str:
    lines = []
    if provenance.test is not None:
        mean, (low, high), episodes = provenance.test
        seeds = ""
        if provenance.test_seeds:
            seeds = f", seeds {provenance.test_seeds[0]} to {provenance.test_seeds[1]}"
        lines.append(
            f"Held-out mean return {mean:.6g} (95 % interval {low:.6g} to {high:.6g}; {episodes} episodes{seeds})."
        )
    if provenance.success_rate is not None:
        lines.append(f"Success in {provenance.success_rate:.0%} of them.")
    lines.append(
        f"Candidate {provenance.candidate} of run {provenance.run_id}, promptpo {provenance.version}, {provenance.date}."
    )
    return "\n".join(lines)


def _split_docstring(source: str) -> tuple[str, str]:
    """The module docstring and the rest of the text."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return "", source
    first = tree.body[0] if tree.body else None
    if not (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return "", source
    lines = source.split("\n")
    rest = "\n".join([*lines[: first.lineno - 1], *lines[(first.end_lineno or first.lineno) :]])
    return first.value.value.strip(), rest


def _construction(source: str) -> tuple[str, bool]:
    """The expression that makes a policy for one episode, as the sandbox makes it, and whether to reset it."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return "Policy()", False
    assigned = {
        t.id: n.value for n in body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
    }
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    alias = assigned.get("Policy")
    policy = classes.get(alias.id if isinstance(alias, ast.Name) else "Policy")
    methods = {item.name: item for item in policy.body if isinstance(item, ast.FunctionDef)} if policy else {}
    resets = "reset" in methods and len(methods["reset"].args.args) == 1
    if "__init__" not in methods or len(methods["__init__"].args.args) < 2:  # noqa: PLR2004 - self and params
        return "Policy()", resets
    values = "{name: value[0] for name, value in PARAMS.items()}" if "PARAMS" in assigned else "{}"
    return f"Policy({values})", resets


def _bounds(space: Any) -> tuple[Any, Any, str]:
    """Finite bounds of a continuous action space, as short literals; (None, None, "") otherwise."""
    import gymnasium
    import numpy as np

    if not isinstance(space, gymnasium.spaces.Box) or not np.issubdtype(space.dtype, np.floating):
        return None, None, ""
    if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        return None, None, ""
    return _literal(space.low), _literal(space.high), str(space.dtype)


def _literal(bound: Any) -> str:
    values = bound.ravel()
    same = bool((values == values[0]).all())
    return repr(float(values[0])) if same else repr(bound.tolist())


def summary_of(test: Mapping[str, Any] | None) -> tuple[float, tuple[float, float], int] | None:
    """The test part of a result as `Provenance` wants it."""
    if not test:
        return None
    low, high = test["ci95"]
    return test["mean_return"], (low, high), test["episodes"]
