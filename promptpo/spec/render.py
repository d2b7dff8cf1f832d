"""Render the parts of a spec as Python."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptpo.spec.parts import Field, Parts

LINE_CHARS, UNWRAPPED_CHARS = 108, 120
"""Characters to which long lines are wrapped, and up to which a line stays as written."""

REWARD = "def reward(obs, action, next_obs):"
"""Head of the reward function if its code is unknown."""

MIN_WHOLE_DIGITS = 1e4
"""Integers from this magnitude on keep all their digits."""


def render(parts: Parts) -> str:
    """Render a spec as valid Python."""
    blocks = [
        *(_block(name, text) for name, text in parts.blocks.items()),
        _state(parts),
        _action(parts),
        *_functions(parts),
        _episode(parts),
    ]
    title = f"Task: {parts.title}." if parts.title else "A control task."
    head = _docstring(title, parts.description, indent=0)
    return "\n\n\n".join(filter(None, [head, *blocks])) + "\n"


def _docstring(first: str, rest: str, *, indent: int = 4) -> str:
    """Render a docstring with a first line and an optional body."""
    pad = " " * indent
    head, body = _paragraphs(f'"""{_quotable(first)}', indent), _paragraphs(_quotable(rest), indent)
    return f'{head}\n\n{body}\n{pad}"""' if body else f'{head}"""'


def _quotable(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    return text[:-1] + '\\"' if text.endswith('"') else text


def _paragraphs(text: str, indent: int) -> str:
    pad = " " * indent
    lines = (
        textwrap.fill(line, LINE_CHARS, initial_indent=pad, subsequent_indent=pad)
        if len(line) > UNWRAPPED_CHARS
        else f"{pad}{line}".rstrip()
        for line in text.splitlines()
    )
    return "\n".join(lines)


def _block(name: str, text: str) -> str:
    """Render a drawing or table as a string constant; its lines that begin with "#" become comments above it."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    comments = [line for line in text.splitlines() if line.startswith("#")]
    return "\n".join([*comments, f'{name} = """\\', f'{_quotable(body)}"""'])


def _state(parts: Parts) -> str:
    notes = [parts.observation_note]
    if any(item.seen for item in parts.observation):
        notes.append(f'"seen": the range in {parts.sampling}.')
    docstring = _docstring(f"obs: {parts.observation_form}.", "\n".join(filter(None, notes)))
    return "\n".join(
        ["class State:", docstring, "", "    def __init__(self, obs):", *_assignments(parts.observation)]
    )


def _assignments(fields: Iterable[Field]) -> list[str]:
    pairs = [(f"        self.{item.name} = {item.path}", _remark(item)) for item in fields]
    return _with_comments(pairs) or ["        pass"]


def _with_comments(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Append remarks to lines of code."""
    return [f"{code}  # {remark}" if remark else code for code, remark in pairs]


def _remark(item: Field) -> str:
    """Return the comment on a field: "-1 .. 1 rad; seen -0.3 .. 0.2; meaning"."""
    declared, seen = _span(item.declared), _span(item.seen)
    observed = f"seen {seen}" if seen and seen != declared else ""
    declared += ", exceeded" if item.is_left else ""
    return "; ".join(filter(None, [declared, observed, item.form, item.meaning]))


def warn_of_left_bounds(name: str, fields: Iterable[Field]) -> tuple[str, ...]:
    """Return a warning that lists the fields whose observed values exceed their declared bounds, if any."""
    left = [
        f"{item.name} (declared {_span(item.declared)}, seen {_span(item.seen)})"
        for item in fields
        if item.is_left
    ]
    warning = f"{name}: observations leave the bounds that the observation space declares: {', '.join(left)}."
    return (warning,) if left else ()


def short_number(value: float) -> str:
    """Format a number with four significant digits."""
    whole = float(value).is_integer() and abs(value) >= MIN_WHOLE_DIGITS
    text = str(int(value)) if whole else f"{value:.4g}"
    return "0" if text == "-0" else text


def span(low: float, high: float) -> str:
    """Format a range."""
    return f"{short_number(low)} .. {short_number(high)}"


def _span(ends: tuple[float, float] | None) -> str:
    return span(*ends) if ends is not None else ""


def _action(parts: Parts) -> str:
    head = f"What act returns: {parts.action_form}, for example {parts.action_example}."
    lines = ["class Action:", _docstring(head, parts.action_note), ""]
    lines += _with_comments([(f"    {item.name} = {item.value}", item.meaning) for item in parts.choices])
    if parts.action and not parts.choices:
        lines += ["    def __init__(self, action):", *_assignments(parts.action)]
    return "\n".join(lines).rstrip()


def _functions(parts: Parts) -> list[str]:
    """Return the model's code for rewards and endings, with observed rewards as comments."""
    found, seen = dict(parts.functions), parts.reward_seen
    if seen and "reward" in found:
        found["reward"] += "\n" + textwrap.fill(seen, LINE_CHARS, initial_indent="# ", subsequent_indent="# ")
    elif seen:
        found["reward"] = f"{REWARD}\n{_docstring(seen, '')}"
    notes = "\n".join(f"# {note}" for note in parts.notes)
    return [*found.values(), notes]


def _episode(parts: Parts) -> str:
    entries = {
        "max_steps": repr(parts.horizon),
        "start": parts.start and _string(parts.start),
        "end": parts.end and _string(parts.end),
        "seen": parts.ends_seen and _string(parts.ends_seen),
        "success": parts.success and _string(parts.success),
        "solved_from_mean_return": None if parts.threshold is None else short_number(parts.threshold),
    }
    return "\n".join(
        ["EPISODE = {", *(f'    "{key}": {value},' for key, value in entries.items() if value), "}"]
    )


def _string(text: str) -> str:
    """Render a string literal on one line, or as a block if it is long."""
    if "\n" not in text and len(text) < LINE_CHARS - 20:
        return f'"{text}"' if '"' not in text and "\\" not in text else repr(text)
    return f'"""\n{_paragraphs(_quotable(text), 8)}\n    """'
