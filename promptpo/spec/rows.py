"""Fields from the rows of a documentation's table."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from promptpo.spec.parts import Field, identifier, says_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymnasium import spaces

    from promptpo.spec.documentation import Row, Section

_UNITS = ("m/s", "rad/s", "N m", "rad", "m", "N", "kg", "s", "deg")
_UNBOUNDED = 1e30  # a float32 bound near 3.4e38 means "none"


def documented_fields(
    path: str, key: str, space: spaces.Box, section: Section
) -> Iterator[tuple[Field, int]]:
    """Fields for the first numbers of an array, as far as a table names them.

    Rows that differ by their axis only ("x position", "y position", "z position") become one field.

    Yields:
        A field, and how many numbers are covered by it and those before.
    """
    rows = _documented(key, space.shape[0], section)
    index = 0
    while index in rows:
        n = _axes(rows, index)
        if n > 1:
            yield _group(path, rows, space, index, n, prefix=_prefix(key)), index + n
        else:
            yield _from_row(f"{path}[{index}]", rows[index], space, index, prefix=_prefix(key)), index + 1
        index += n


def _documented(key: str, size: int, section: Section) -> dict[int, Row]:
    """The table rows for an array; empty where the documentation has none that fit it."""
    for table in section.tables:
        rows = table.numbered()
        if table.key in {"", key} and rows and max(rows) < size and 0 in rows:
            return rows
    for choices in section.choices:
        if set(choices) == set(range(size)):
            return {n: {"num": str(n), "observation": text} for n, text in choices.items()}
    return {}


_AXIS = re.compile(r"(?<![A-Za-z])d?([wxyz])(?![A-Za-z])")


def _meaning(row: Row) -> str:
    cells = list(row.values())
    meaning = row.get("observation") or row.get("action") or (cells[1] if len(cells) > 1 else "")
    return re.sub(r"\s*Equals to .*", "", meaning).strip(". ")


def _axis(row: Row) -> tuple[str, str]:
    """A row's meaning with "#" for its axis, and the axis; the axis is empty where it names none or several."""
    meaning = _meaning(row)
    letters = set(_AXIS.findall(meaning))
    return (_AXIS.sub("#", meaning), letters.pop()) if len(letters) == 1 else (meaning, "")


def _axes(rows: dict[int, Row], start: int) -> int:
    """How many rows from `start` on say the same of different axes."""
    pattern, axis = _axis(rows[start])
    unit = _unit(rows[start])
    axes = [axis]
    while axis and (row := rows.get(start + len(axes))) and not _model_name(row, unit):
        other, letter = _axis(row)
        if other != pattern or not letter or letter in axes or _unit(row) != unit:
            break
        axes.append(letter)
    return len(axes)


def _group(path: str, rows: dict[int, Row], space: spaces.Box, start: int, n: int, *, prefix: str) -> Field:
    """One field for the rows of several axes."""
    pattern, _ = _axis(rows[start])
    meaning = re.sub(
        r"(?:\b(?:in|along|of) )?(?:the )?#[- ]?(?:coordinate|direction|axis)?(?: #)?(?: of\b)?", " ", pattern
    )
    meaning = re.sub(r"\bin (?:the MuJoCo simulation|global coordinates)\b", "", meaning)
    meaning = re.sub(r"\s+", " ", meaning).strip(" -.")
    unit = _unit(rows[start])
    name = identifier(meaning)
    if unit == "m" and not re.search(r"position|displacement|distance", name):
        name = f"{name}_position"
    if prefix and not name.startswith(prefix):
        name = f"{prefix}_{name}"
    axes = ", ".join(_axis(rows[start + i])[1] for i in range(n))
    if "w" in axes:  # a quaternion, whose unit tables call an angle's
        unit = ""
    part = slice(start, start + n)
    low, high = space.low[part].tolist(), space.high[part].tolist()
    bounded = all(map(math.isfinite, map(finite, low + high)))
    return Field(
        name,
        f"{path}[{start}:{start + n}]",
        finite(min(low)) if bounded else -math.inf,
        finite(max(high)) if bounded else math.inf,
        unit=unit,
        meaning=axes if says_all(name, meaning) else f"{axes} of: {meaning}",
    )


def _from_row(path: str, row: Row, space: spaces.Box, index: int, prefix: str) -> Field:
    meaning = _meaning(row)
    if meaning in {"", "-"}:
        meaning = "unused"
    unit = _unit(row)
    plain = identifier(_short(meaning))
    name = _model_name(row, unit) or plain
    if unit == "N m":
        meaning = re.sub(r"^Torque applied (?:on|to) (?:the (?:rotor|hinge) )?", "", meaning)
    if prefix and not name.startswith(prefix):
        name = f"{prefix}_{name}"
    low, high = float(space.low[index]), float(space.high[index])
    return Field(
        name or f"n{index}",
        path,
        finite(low),
        finite(high),
        unit=unit,
        meaning="" if says_all(name, meaning) else meaning,
        alias="" if name == plain else plain,
    )


def _short(meaning: str) -> str:
    """A meaning without words that the unit or the place says: "x-coordinate of the torso" is "x of the torso"."""
    meaning = re.sub(r"\bin (?:the MuJoCo simulation|global coordinates)\b", "", meaning)
    return re.sub(
        r"\b([xyz])[- ](?:coordinate|direction|axis)\b|\b(?:coordinate|direction|axis) ([xyz])\b",
        r"\1\2",
        meaning,
    )


def _model_name(row: Row, unit: str) -> str:
    """A name made from the joint's name in the model file, which is short and unique; empty without one."""
    cell = next((text for title, text in row.items() if title.startswith("name (in")), "")
    joint = re.fullmatch(r"[A-Za-z]\w*", cell.split(" ")[0])  # "robot0:A_WRJ1" tells less than the words
    if joint is None or joint[0] in {"root", "NA"} or row.get("joint") not in {"hinge", "slide"}:
        return ""
    if unit == "N m":
        return joint[0].lower()
    if unit in {"rad", "rad/s"} and not joint[0].startswith(("sin", "cos", "root")):
        return f"{joint[0].lower()}_{'angle' if unit == 'rad' else 'velocity'}"
    return ""


def _unit(row: Row) -> str:
    cell = next((text for title, text in row.items() if "unit" in title), "")
    inner = re.search(r"\(([^)]*)\)", cell)
    unit = inner[1] if inner else cell
    if unit == "rad" and "velocity" in _meaning(row):
        unit = "rad/s"  # some tables call every joint's unit an angle
    if not unit:
        unit = "rad" if re.search(r"\brad\b", row.get("min", "")) else ""
    return unit if unit in _UNITS else ""


def _prefix(key: str) -> str:
    """Goal dictionaries describe three similar arrays; their keys keep the names apart."""
    return identifier(key).replace("_goal", "") if key.endswith("_goal") else ""


def finite(bound: float) -> float:
    """A bound, or infinity where it stands for none."""
    return math.copysign(math.inf, bound) if abs(bound) > _UNBOUNDED else bound
