"""Writing the parts of a spec as Python."""

from __future__ import annotations

import math
import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptpo.spec.parts import ActionValue, Field, Parts

WIDTH = 108
TWO_DIGITS_BELOW = 10
NARROW = 0.2
"""An observed range that spans less than this share of its larger end has one digit more."""

WRITTEN_OUT = 1e4
"""Whole numbers from here on are written with all their digits."""


def render(parts: Parts) -> str:
    """The spec as valid Python."""
    blocks = [
        *(_block(name, text) for name, text in parts.blocks.items()),
        _state(parts),
        _action(parts),
        _reward(parts),
        _episode(parts),
    ]
    body = "\n\n\n".join(filter(None, blocks))
    imports = [line for name, line in _IMPORTS.items() if re.search(rf"\b{name}\.", body)]
    head = "\n\n".join(filter(None, [_module_docstring(parts), "\n".join(imports)]))
    return f"{head}\n\n\n{body}\n"


_IMPORTS = {"math": "import math", "np": "import numpy as np"}


def _module_docstring(parts: Parts) -> str:
    title = f"Task: {parts.title}." if parts.title else "A control task."
    return _docstring(title, parts.description, indent=0)


def _docstring(first: str, rest: str, *, indent: int = 4) -> str:
    """A docstring with a first line and, where there is one, a body."""
    first, rest = _quotable(first), _quotable(rest)
    pad = " " * indent
    if not rest and len(first) + indent <= WIDTH:
        return f'{pad}"""{first}"""'
    head = textwrap.fill(f'{pad}"""{first}', WIDTH, subsequent_indent=pad, break_long_words=False)
    body = f"\n\n{_paragraphs(rest, indent)}" if rest else ""
    return f'{head}{body}\n{pad}"""'


def _quotable(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    return text[:-1] + '\\"' if text.endswith('"') else text


def _paragraphs(text: str, indent: int) -> str:
    lines = []
    for line in text.splitlines():
        if line.strip()[:1] in {"+", "|"}:  # a drawing
            lines.append(" " * indent + line)
            continue
        own = len(line) - len(line.lstrip())
        hang = own + (2 if line.lstrip().startswith("- ") else 0)
        lines.append(
            textwrap.fill(
                line.strip(),
                WIDTH,
                initial_indent=" " * (indent + own),
                subsequent_indent=" " * (indent + hang),
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return "\n".join(lines)


def _block(name: str, text: str) -> str:
    """A drawing or table as a string constant; its explanation, after "#", as comments above it."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    comments = [line for line in text.splitlines() if line.startswith("#")]
    return "\n".join([*comments, f'{name} = """\\', f'{_quotable(body)}"""'])


def _state(parts: Parts) -> str:
    head = f"obs: {parts.observation_form}."
    seen = any(item.seen for item in parts.observation)
    notes = [parts.observation_note]
    if seen:
        notes.append(f'"seen": the range in {parts.sampling}; no bounds are declared.')
    lines = [
        "class State:",
        _docstring(head, "\n".join(filter(None, notes))),
        "",
        "    def __init__(self, obs):",
        *_assignments(parts.observation),
    ]
    return "\n".join(lines)


def _assignments(fields: Iterable[Field]) -> list[str]:
    pairs = [(f"        self.{item.name} = {item.path}", _remark(item)) for item in fields]
    return _with_comments(pairs) or ["        pass"]


def _with_comments(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Code with remarks; long remarks stand above the code, short ones behind it."""
    lines = []
    for code, remark in pairs:
        if not remark:
            lines.append(code)
        elif len(code) + len(remark) + 4 <= WIDTH:
            lines.append(f"{code}  # {remark}")
        else:
            indent = code[: len(code) - len(code.lstrip())]
            wrapped = textwrap.wrap(remark, WIDTH - len(indent) - 2, break_long_words=False)
            lines += [*(f"{indent}# {line}" for line in wrapped), code]
    return lines


def _remark(item: Field) -> str:
    """What stands behind a field: "-1 .. 1 rad; meaning"."""
    if item.spans:
        seen, told = ("seen ", rough_span) if item.seen else ("", _span)
        span = seen + ", ".join(told(low, high) for low, high in item.spans)
    elif math.isfinite(item.low) or math.isfinite(item.high):
        span = _span(item.low, item.high)
    elif item.seen:
        span = f"seen {rough_span(*item.seen)}"
    else:
        span = ""
    if span and item.unit:
        span = f"{span} {item.unit}"
    elif item.unit:
        span = item.unit
    return "; ".join(filter(None, [span, item.form, item.meaning]))


def number(value: float) -> str:
    """A number with four significant digits."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    whole = value == int(value) and abs(value) >= WRITTEN_OUT
    text = str(int(value)) if whole else f"{value:.4g}"
    return "0" if text == "-0" else text


def rough(value: float) -> str:
    """An observed number with two or three digits."""
    return number(float(f"{value:.2g}") if abs(value) < TWO_DIGITS_BELOW else float(f"{value:.3g}"))


def rough_span(low: float, high: float) -> str:
    """An observed range with two or three digits, and one more where its ends lie close to each other."""
    if high - low >= NARROW * max(abs(low), abs(high)):
        return f"{rough(low)} .. {rough(high)}"
    return " .. ".join(
        number(float(f"{value:.3g}") if abs(value) < TWO_DIGITS_BELOW else value) for value in (low, high)
    )


def _span(low: float, high: float) -> str:
    return f"{number(low)} .. {number(high)}"


def _action(parts: Parts) -> str:
    head = f"What act returns: {parts.action_form}, for example {parts.action_example}."
    lines = ["class Action:", _docstring(head, parts.action_note), ""]
    if parts.choices:
        lines += _with_comments([_choice(item) for item in parts.choices])
    elif parts.action:
        lines += ["    def __init__(self, action):", *_assignments(parts.action)]
    return "\n".join(lines).rstrip()


def _choice(item: ActionValue) -> tuple[str, str]:
    return f"    {item.name} = {item.value}", item.meaning


def _reward(parts: Parts) -> str:
    code, told = parts.reward_code, _docstring(*_split(parts.reward_text)) if parts.reward_text else ""
    functions = list(code.functions) if code is not None else []
    if told and code is not None and code.has_reward:
        head, _, body = functions[0].partition("\n")
        functions[0] = f"{head}\n{told}\n{body}"
    elif told:
        functions.insert(0, f"def reward(obs, action, next_obs):\n{told}")
    words = [f"{name}: {text}." for name, text in code.words.items()] if code is not None else []
    wrapped = [line for word in words for line in textwrap.wrap(word, WIDTH - 2)]
    return "\n\n\n".join([*functions, *(["\n".join(f"# {line}" for line in wrapped)] if words else [])])


def _split(text: str) -> tuple[str, str]:
    """The first line of a text and the rest."""
    first, _, rest = text.strip().partition("\n")
    if re.match(r"[-*] |\d+\. ", first):
        return "The sum of:", text.strip()
    return first, rest.strip("\n")


def _episode(parts: Parts) -> str:
    entries: list[tuple[str, str]] = [("max_steps", repr(parts.horizon))]
    if parts.step_seconds is not None:
        entries.append(("seconds_per_step", number(parts.step_seconds)))
    entries += [(key, _string(text)) for key, text in (("start", parts.start), ("end", parts.end)) if text]
    if parts.success:
        entries.append(("success", _string(parts.success)))
    if parts.threshold is not None:
        entries.append(("solved_from_mean_return", number(parts.threshold)))
    return "EPISODE = {\n" + "\n".join(f'    "{key}": {value},' for key, value in entries) + "\n}"


def _string(text: str) -> str:
    """A Python string: on one line, or as a block."""
    if "\n" not in text and len(text) < WIDTH - 20:
        return f'"{text}"' if '"' not in text and "\\" not in text else repr(text)
    return f'"""\n{_paragraphs(_quotable(text), 8)}\n    """'
