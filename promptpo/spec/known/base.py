"""The form of an entry."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptpo.spec.parts import ActionValue, Field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
        reward_text: Instead of the documentation's.
        hide_reward_code: Whether the source would say less than the text does.
        start: How an episode begins, instead of the documentation's.
        end: When it ends, instead of the documentation's.
        success: When an episode counts as a success.
        w_first: Quaternions that the documentation lists as x, y, z, w are w, x, y, z.
        neutral: Words that identify this environment only, and what an anonymous spec says instead.
    """

    description: str = ""
    observation: Sequence[Field] = ()
    observation_note: str | None = None
    action: Sequence[Field] = ()
    choices: Sequence[ActionValue] = ()
    action_note: str | None = None
    blocks: Mapping[str, str] = field(default_factory=dict)
    reward_text: str = ""
    hide_reward_code: bool = False
    start: str = ""
    end: str = ""
    success: str = ""
    w_first: bool = False
    neutral: Mapping[str, str] = field(default_factory=dict)


_LINE = re.compile(
    r"(?P<name>\w+) = (?P<path>[^;]+?)(?:; (?P<low>\S+) \.\. (?P<high>\S+))?(?:; (?P<unit>m/s|rad/s|N m|rad|m))?"
    r"(?:; (?P<meaning>.+))?$"
)


def fields(table: str) -> tuple[Field, ...]:
    """Fields from lines such as ``angle = obs[4]; -1 .. 1; rad; of the hull, 0 is upright``.

    Bounds, unit and meaning may be missing; "whole" at the end of the bounds is not needed: fields
    whose path computes with ``//`` or ``%`` are whole numbers.
    """
    found = []
    for line in table.strip().splitlines():
        match = _LINE.match(line.strip())
        if match is None:
            raise ValueError(line)
        path = match["path"]
        found.append(
            Field(
                match["name"],
                path,
                float(match["low"] or -math.inf),
                float(match["high"] or math.inf),
                unit=match["unit"] or "",
                meaning=match["meaning"] or "",
                whole="//" in path or "%" in path,
            )
        )
    return tuple(found)
