"""What the environment's own variables are to a policy: a place in the observation, or hidden."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.patience import STEPPING, patience
from promptpo.envs.spaces import AnySpace, at, leaves
from promptpo.spec.render import number, rough_span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import gymnasium
    from numpy.typing import NDArray

SEEDS = (5, 6, 7)
"""Several episodes: a goal that never changes within one is recognised by others."""

STEPS = 4
"""Steps of each."""

EARLY = f"seen in the first {STEPS} steps"
"""Behind what was seen, which says nothing of later steps."""

EARLIER = re.compile(r"init|prev|last|old|start", re.IGNORECASE)
"""Variables that remember what was: they equal an observation as long as nothing happens."""

HIDDEN = "hidden: "
"""Before what is known of a variable that the observation does not hold."""

POINT, RIGID = 4, 0.05
"""Numbers of a point at most; it is beside another where what is between them changes by less than this share of its way."""

LONGEST = 60
"""Characters of an example value."""


def variables_in(functions: Sequence[str]) -> tuple[str, ...]:
    """The variables of the environment that code reads, such as ``env.state[0]``, in order; calls end a name."""
    found: dict[str, None] = {}
    for text in functions:
        tree = ast.parse(text)
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in _outermost(tree):
            while id(node) in called and isinstance(node, ast.Attribute):
                node = node.value  # noqa: PLW2901 - env.lamps.sum() reads env.lamps
            if not isinstance(node, ast.Name) and not isinstance(getattr(node, "ctx", None), ast.Store):
                found[ast.unparse(node)] = None
    return tuple(found)


def _outermost(node: ast.AST) -> Iterator[ast.expr]:
    """The longest chains of attributes and constant subscripts that begin with ``env``."""
    if isinstance(node, ast.Attribute | ast.Subscript | ast.Name) and _is_chain(node):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _outermost(child)


def _is_chain(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not re.fullmatch(r"-?\d*(:-?\d*)?", ast.unparse(node.slice)):
            return False
        node = node.value
    return isinstance(node, ast.Name) and node.id == "env"


def places(env: gymnasium.Env[Any, Any], variables: Sequence[str], name: str) -> tuple[dict[str, str], int]:
    """Compare variables of an environment with its observations in a few steps of random actions.

    Args:
        env: The environment; it is left in the middle of an episode.
        variables: As `variables_in` gives them.
        name: The task, for error messages.

    Returns:
        Variable to what it is, in words, for those whose value is plain; and the number of steps taken.
    """
    observations: list[Any] = []
    rows: list[dict[str, Any]] = []
    begins: list[int] = []
    steps = 0
    for seed in SEEDS:
        begins.append(len(rows))
        with patience(STEPPING, f"a reset of {name}"):
            observation, _ = env.reset(seed=seed)
        env.action_space.seed(seed)
        over = False
        for step in range(STEPS + 1):
            observations.append(observation)
            rows.append(_values(env, variables))
            if over or step == STEPS:
                break
            with patience(STEPPING, f"a step of {name}"):
                observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
            over = terminated or truncated
            steps += 1
    arrays = _arrays(env.observation_space, observations)
    found = {
        variable: _place([row[variable] for row in rows], {} if EARLIER.search(variable) else arrays, begins)
        for variable in variables
    }
    return {variable: words for variable, words in found.items() if words}, steps


def _values(env: gymnasium.Env[Any, Any], variables: Sequence[str]) -> dict[str, Any]:
    return {variable: _value(env.unwrapped, variable) for variable in variables}


def _value(env: Any, variable: str) -> Any:
    """What a variable holds now, copied; None where it cannot be read."""
    value = env
    try:
        for attribute, index in re.findall(r"\.(\w+)|\[([^\]]*)\]", variable):
            value = getattr(value, attribute) if attribute else value[_index(index)]
    except Exception:  # noqa: BLE001 - a property of a foreign class: anything can come out of it
        return None
    if isinstance(value, np.ndarray):
        return value.copy()
    return list(value) if isinstance(value, list) else value


def _index(text: str) -> Any:
    if ":" in text:
        return slice(*(int(part) if part else None for part in text.split(":")))
    return int(text)


def _arrays(space: AnySpace, values: Sequence[Any]) -> dict[str, Any]:
    """Path of every flat array inside observations, to its values, one row for each observation, and its dimensions."""
    found: dict[str, Any] = {}
    for path, _ in leaves(space):
        inner = [at(value, path) for value in values]
        if not isinstance(inner[0], str) and np.ndim(inner[0]) <= 1:
            keys = "".join(f'["{key}"]' if isinstance(key, str) else f"[{key}]" for key in path)
            found[f"obs{keys}"] = (np.array([np.ravel(value) for value in inner]), np.ndim(inner[0]))
    return found


def _place(values: Sequence[Any], arrays: Mapping[str, Any], begins: Sequence[int] = (0,)) -> str:
    """In words, where a variable is found; empty for what is no plain value. Episodes begin at `begins`."""
    rows = [_numbers(value) for value in values]
    if any(row is None for row in rows) or len({len(row) for row in rows if row is not None}) != 1:
        return _hidden(values[-1])
    table = np.array(rows, dtype=float)
    size, moves = table.shape[1], bool(table.size and (table != table[0]).any())
    # what never changes agrees with anything
    seen = (_equal(table, arrays) or _beside(table, arrays)) if moves else ""
    if seen:
        return seen
    if not moves and 1 < size <= POINT and isinstance(values[0], np.ndarray):
        return f"{HIDDEN}always {_point(table[0], 0.0)}"
    if size == 1:
        low, high = float(table.min()), float(table.max())
        if _counts(table[:, 0], begins):
            return f"{HIDDEN}counts steps from {_plain(values[0])}"
        text = f"seen {rough_span(low, high)}" if low < high else _plain(values[0])
        return f"{HIDDEN}{text}"
    return _hidden(values[-1])


def _equal(table: NDArray[Any], arrays: Mapping[str, Any]) -> str:
    """The part of an observation that holds the same; empty where there is none."""
    size = table.shape[1]
    for path, (observed, dimensions) in arrays.items():
        for start in range(observed.shape[1] - size + 1):
            if np.allclose(observed[:, start : start + size], table, rtol=1e-5, atol=1e-7):
                if dimensions == 0 or size == observed.shape[1] > 1:
                    return path
                return f"{path}[{start}]" if size == 1 else f"{path}[{start}:{start + size}]"
    return ""


def _beside(table: NDArray[Any], arrays: Mapping[str, Any]) -> str:
    """The part of an observation that a point stays beside, with how far; empty where there is none."""
    found: dict[str, float] = {}
    size = table.shape[1]
    for path, (observed, _) in arrays.items() if 1 < size <= POINT else ():
        for start in range(observed.shape[1] - size + 1):
            part = observed[:, start : start + size]
            spread = float(np.ptp(table - part, axis=0).max())
            if spread <= RIGID * np.ptp(part, axis=0).max():
                away = _point((table - part).mean(axis=0), spread)
                off = number(float(f"{spread:.1g}"))
                found[f"{path}[{start}:{start + size}] + {away}, within {off} in the first steps"] = spread
    return min(found, key=lambda text: found[text], default="")


def _point(values: NDArray[Any], spread: float) -> str:
    """Numbers in brackets; those that are smaller than the spread are none."""
    told = (0.0 if abs(value) <= spread else float(f"{value:.3g}") for value in values)
    return f"({', '.join(map(number, told))})"


def _counts(values: NDArray[Any], begins: Sequence[int]) -> bool:
    """Whether a number is one more with every step of an episode."""
    within = np.delete(np.diff(values), [begin - 1 for begin in begins if begin])
    return within.size > 1 and bool((within == 1).all())


def _plain(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    return number(value) if isinstance(value, float) else repr(value)


def _numbers(value: Any) -> list[float] | None:
    """A number, or a short list or array of them."""
    if isinstance(value, bool | int | float | np.generic):
        return [float(value)] if np.isreal(value) and not isinstance(value, np.str_) else None
    if isinstance(value, list | tuple | np.ndarray):
        try:
            flat = np.ravel(np.asarray(value, dtype=float))
        except (TypeError, ValueError):
            return None
        return flat.tolist() if flat.size and np.ndim(value) == 1 else None
    return None


def _hidden(value: Any) -> str:
    """An example for a plain value that is not observed; empty for objects, which it would not explain."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        return f"{HIDDEN}array of shape {value.shape}"
    if not isinstance(value, list | tuple | set | str):
        return ""
    text = repr(value)
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):  # objects
        return f"{HIDDEN}{kind}"
    return f"{HIDDEN}{kind}" + (f" such as {text}" if len(text) <= LONGEST else "")
