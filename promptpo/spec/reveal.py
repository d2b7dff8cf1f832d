"""How much a spec gives away about which environment it describes."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from promptpo.spec.fields import fields_of
from promptpo.spec.known import data_of_words, known
from promptpo.spec.parts import Parts

if TYPE_CHECKING:
    import gymnasium

_CALLED = re.compile(r"""(\b\w+\.[\w.]*\(|\b\w+\()(['"])(\w+)\2\)""")
"""Where code asks the simulator for a part by its name."""

_READ = re.compile(r"""((?:\b(?:next_)?(?:obs|action))(?:\[[^\]]*\])+|https?://\S+)""")
"""Expressions that a policy needs as they are, and addresses."""

SHORTEST = 3
"""Letters that a word of a name has at least, to say anything."""


def bare(parts: Parts, env: gymnasium.Env[Any, Any]) -> Parts:
    """Shapes, bounds and the horizon only."""
    clipping = parts.action_note.rsplit("\n", 1)[-1]
    return Parts(
        observation_form=parts.observation_form,
        observation=fields_of("obs", env.observation_space),
        action_form=parts.action_form,
        action_example=parts.action_example,
        action=fields_of("action", env.action_space) if parts.action else (),
        action_note=clipping if clipping.startswith("Values outside") else "",
        horizon=parts.horizon,
    )


def anonymous(text: str, env: gymnasium.Env[Any, Any]) -> str:
    """A spec's text in words that do not identify the environment; expressions, which a policy needs, stay."""
    words = data_of_words()
    common = set(words["common"].split())
    names = {name for name in _names(env, common) if name.lower() not in words["neutral"]}
    own = {w: "object" for name in names for w in _split(name) if w not in common and len(w) >= SHORTEST}
    table = {
        **dict.fromkeys(map(str.lower, names), "system"),
        **own,
        **words["neutral"],
        **known(env).neutral,
    }
    known_words = "|".join(re.escape(word) for word in sorted(table, key=len, reverse=True))
    word = re.compile(rf"(?<![A-Za-z])({known_words})(s?)(?![A-Za-z])", re.IGNORECASE)
    drawn = {c for line in text.splitlines() if _is_drawn(line) for c in line if c.isupper()}
    letters = {ord(letter): chr(ord("a") + i) for i, letter in enumerate(sorted(drawn))}
    parts: dict[str, str] = {}

    def neutral(match: re.Match[str]) -> str:
        said: str = table[match[1].lower()] + match[2]
        around = (
            match.string[max(0, match.start() - 1) : match.start()]
            + match.string[match.end() : match.end() + 1]
        )
        said = said.replace(" ", "_") if re.search(r"[_.(]", around) else said
        return said.upper() if match[1].isupper() else said.capitalize() if match[1][0].isupper() else said

    def hidden(line: str) -> str:
        if _is_drawn(line):
            return line.translate(letters)
        line = _CALLED.sub(
            lambda m: f"{m[1]}{m[2]}{parts.setdefault(m[3], f'part{len(parts) + 1}')}{m[2]})", line
        )
        pieces = _READ.split(line)
        told = [
            re.sub(r"\b[A-Z]\b", lambda m: m[0].translate(letters), word.sub(neutral, piece))
            for piece in pieces[::2]
        ]
        kept = ["" if piece.startswith("http") else piece for piece in pieces[1::2]]
        return "".join(piece for pair in zip(told, [*kept, ""], strict=True) for piece in pair)

    taken: Counter[str] = Counter()

    def numbered(match: re.Match[str]) -> str:
        taken[match[1]] += 1
        return f"self.{match[1]}{f'_{taken[match[1]]}' if taken[match[1]] > 1 else ''} ="

    return re.sub(r"self\.(\w+) =", numbered, "\n".join(map(hidden, text.split("\n"))))


def _is_drawn(line: str) -> bool:
    return bool(re.fullmatch(r"[A-Z.|:+\- 0-9a-z]*(?:\"\"\")?", line)) and not re.search(
        r"[a-z]{3}|^\s*\.\.\.", line
    )


def _names(env: gymnasium.Env[Any, Any], common: set[str]) -> set[str]:
    """The environment's names: of its id and its class, in the ways that people write them."""
    found = {type(env.unwrapped).__name__.removesuffix("Env")}
    if env.spec is not None:
        found |= set(re.sub(r"-v\d+$", "", env.spec.id).split("/"))
    spelled = {
        joint.join(_split(name)) for name in found for joint in ("", " ", "-", "_") if len(_split(name)) > 1
    }
    return {name for name in spelled | found if name and not set(_split(name)) <= common}


def _split(name: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
