"""How much a spec gives away about which environment it describes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from promptpo.spec.fields import fields_of
from promptpo.spec.known import data_of_words, supplement_of
from promptpo.spec.parts import Parts

if TYPE_CHECKING:
    import gymnasium

_CALLED = re.compile(r"""(\b\w+\.[\w.]*\(|\b\w+\()(['"])(\w+)\2\)""")
"""Where code asks the simulator for a part by its name."""

_READ = r"\b(?:next_)?(?:obs|action)(?:\[[^\]]*\])+"
"""Expressions that a policy needs as they are."""

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
    table, parts = _words(env), dict[str, str]()
    longest_first = "|".join(re.escape(word) for word in sorted(table, key=len, reverse=True))
    word = rf"(?<![A-Za-z])({longest_first})(s?)(?![A-Za-z])"

    def neutral(match: re.Match[str]) -> str:
        if match["kept"]:
            return match["kept"]
        said = table[match[2].lower()] + match[3]
        around = text[max(0, match.start() - 1) : match.start()] + text[match.end() : match.end() + 1]
        said = said.replace(" ", "_") if re.search(r"[_.(]", around) else said
        return said.upper() if match[2].isupper() else said.capitalize() if match[2][0].isupper() else said

    text = re.sub(r"https?://\S+", "", text)
    text = _CALLED.sub(lambda m: f'{m[1]}"{parts.setdefault(m[3], f"part{len(parts) + 1}")}")', text)
    return re.sub(rf"(?P<kept>{_READ})|{word}", neutral, text, flags=re.IGNORECASE)


def _words(env: gymnasium.Env[Any, Any]) -> dict[str, str]:
    """Words that identify an environment, in lower case, to those that are said instead."""
    words = data_of_words()
    common = set(words["common"].split())
    names = {name for name in _names(env, common) if name.lower() not in words["neutral"]}
    own = {w: "object" for name in names for w in _split(name) if w not in common and len(w) >= SHORTEST}
    system = dict.fromkeys(map(str.lower, names), "system")
    neutral: dict[str, str] = words["neutral"]
    return {**system, **own, **neutral, **supplement_of(env).neutral}


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
