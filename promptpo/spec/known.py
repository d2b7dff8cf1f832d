"""Facts about some packages' environments that no documentation has: names of numbers, how an index decodes, a map.

The data are in `known.toml`. Most environments need nothing there: their documentation's tables are read.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from promptpo.spec.parts import ActionValue, Field

if TYPE_CHECKING:
    from promptpo.envs.family import AnyEnv


@dataclass(frozen=True, slots=True)
class Supplement:
    """What is known about an environment beyond its documentation; empty values add nothing.

    Attributes:
        description: Instead of the documentation's.
        observation: Fields, instead of those found.
        observation_note: Instead of the documentation's prose.
        action: Fields of the action, instead of those found.
        choices: Values of a discrete action, instead of those found.
        action_note: Instead of the documentation's prose.
        blocks: Module constants with multi-line text, such as a map.
        reward: In words, instead of the documentation's.
        start: How an episode begins, instead of the documentation's.
        end: When it ends, instead of the documentation's.
        neutral: Words that identify this environment only, and what an anonymous spec says instead.
    """

    description: str = ""
    observation: Sequence[Field] = ()
    observation_note: str | None = None
    action: Sequence[Field] = ()
    choices: Sequence[ActionValue] = ()
    action_note: str | None = None
    blocks: Mapping[str, str] = field(default_factory=dict)
    reward: str = ""
    start: str = ""
    end: str = ""
    neutral: Mapping[str, str] = field(default_factory=dict)


def supplement_of(env: AnyEnv) -> Supplement:
    """Return what is known about an environment beyond its documentation; empty for most.

    Args:
        env: Any environment that has been reset; package and classes of the unwrapped one decide, so that a
            class of one's own is never taken for the one that it is named after or made from.
    """
    inner, data = env.unwrapped, _data()
    package = type(inner).__module__.partition(".")[0]
    own = (base for base in type(inner).__mro__ if base.__module__.partition(".")[0] == package)
    classes = {f"{package}.{base.__name__}" for base in own}
    name = inner.spec.id.split("/")[-1].rsplit("-v", 1)[0] if inner.spec else ""
    space = {"env": inner, "task": data["tasks"].get(name, "").split(" | ")}

    def filled(told: Any) -> Any:
        if isinstance(told, dict):
            return {key: filled(item) for key, item in told.items()}
        return re.sub(r"\{([^{}]+)\}", lambda found: str(evaluate(found[1], space)), told)

    values: dict[str, Any] = {}
    for entry in data["entries"]:
        if entry["class"] in classes:
            with contextlib.suppress(Exception):  # an expression that another version of the package fails
                if evaluate(entry.get("when", "True"), space):
                    values |= {
                        key: filled(text) for key, text in entry.items() if key not in {"class", "when"}
                    }
    values |= {key: fields(values[key]) for key in ("observation", "action") if key in values}
    choices = (line.split("; ") for line in values.get("choices", "").splitlines())
    values["choices"] = tuple(ActionValue(value, n, meaning) for n, (value, meaning) in enumerate(choices))
    return Supplement(**values)


def evaluate(expression: str, space: Mapping[str, Any], own: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression that whoever wrote the environment, or this package, wrote; never of another's text.

    Args:
        expression: Python.
        space: Its module's names.
        own: Its function's names.
    """
    return eval(expression, dict(space), dict(own or {}))  # noqa: S307 - the environment's own expression


def data_of_words() -> Mapping[str, Any]:
    """Words that identify environments, "neutral" ones that keep the meaning, and those that are "common"."""
    words: Mapping[str, Any] = _data()["words"]
    return words


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(resources.files("promptpo.spec").joinpath("known.toml").read_text("utf-8"))


_LINE = re.compile(
    r"(\w+) = ([^;]+?)(?:; (\S+) \.\. (\S+))?(?:; (m/s|rad/s|N m|rad|m))?"
    r"(?:; (.+))?$"
)


def fields(table: str) -> tuple[Field, ...]:
    """Fields from lines such as ``angle = obs[4]; -1 .. 1; rad; of the hull, 0 is upright``.

    Bounds, unit and meaning may be missing.
    """
    found = []
    for line in filter(None, table.splitlines()):
        match = _LINE.match(line.strip())
        if match is None:
            raise ValueError(line)
        name, path, low, high, unit, meaning = match.groups(default="")
        spans = [(float(low), float(high))] if low else ()
        found.append(Field(name, path, unit=unit, meaning=meaning, spans=spans))
    return tuple(found)
