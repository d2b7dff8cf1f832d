"""How much a spec gives away about which environment it describes."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from promptpo.spec.fields import fields_of
from promptpo.spec.known import known
from promptpo.spec.parts import Field, Parts, unique

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import gymnasium

    from promptpo.levels import Reveal

NEUTRAL: Mapping[str, str] = {
    # classic control
    "cart": "base", "pole": "rod", "pendulum": "rod", "acrobot": "system", "mountain": "slope", "hill": "slope",
    "car": "body", "flag": "mark",
    # toy text
    "frozen": "free", "lake": "grid", "ice": "floor", "slippery": "unreliable", "hole": "trap", "taxi": "carrier",
    "cab": "carrier", "passenger": "item", "cliff": "trap", "blackjack": "game", "dealer": "opponent",
    "ace": "extra", "bust": "over", "player": "agent",
    # Box2D
    "lander": "craft", "lunar": "craft", "moon": "ground", "rocket": "craft", "helipad": "target", "pad": "target",
    "landing pad": "target", "landing": "settling", "engine": "thruster", "hull": "trunk", "lidar": "rangefinder", "walker": "robot",
    "bipedal": "robot", "racing": "driving", "tile": "piece", "track": "road",
    # MuJoCo
    "cheetah": "robot", "ant": "robot", "hopper": "robot", "humanoid": "robot", "swimmer": "robot",
    "reacher": "arm", "pusher": "arm", "torso": "trunk", "abdomen": "trunk", "pelvis": "trunk", "waist": "trunk",
    "thigh": "segment1", "shin": "segment2", "foot": "segment3", "leg": "limb", "hip": "joint1", "knee": "joint2",
    "ankle": "joint2", "shoulder": "joint3", "elbow": "joint4", "fingertip": "tip", "bthigh": "joint1",
    "mujoco": "simulator", "rootx": "x", "rooty": "y", "rootz": "z", "fwd": "forward",
    # robotics and driving
    "sawyer": "arm", "fetch": "arm", "hamacher": "soft_and", "caging": "enclosing", "tcp": "tool",
    "highway": "road", "ego": "own", "minigrid": "grid",
}  # fmt: skip
"""Words that identify an environment, and neutral ones that keep the meaning."""

COMMON = frozenset(
    """the env environment discrete continuous open close push pull pick place reach press turn slide door window
    drawer handle button box lock large medium small inverted double half random empty dynamic obstacles go to red
    ball key room rooms wall plate stick lever peg side back into top down topdown out of hole-v3 maze point grid
    simple my meta world stand up standup easy hard custom test game dense sparse goal four two way fast insert""".split()  # noqa: SIM905 - reads better as a text
)
"""Words of ids that name nothing in particular: they stay where they occur in meanings."""


_CALLED = re.compile(r"""(\benv\.[\w.]*\()(['"])(\w+)\2""")
"""Where code asks the simulator for a part by its name."""

SHORTEST = 3
"""Letters that a word of a name has at least, to say anything."""


def revealed(parts: Parts, env: gymnasium.Env[Any, Any], reveal: Reveal) -> Parts:
    """The parts of a spec as far as `reveal` lets them be told.

    Args:
        parts: Everything that is known.
        env: The environment, for its names and spaces.
        reveal: "named" keeps all; "anonymous" keeps spaces, meanings and reward, in words that do not
            identify the environment, without example texts and without the
            condition of a success; "bare" keeps shapes and bounds only.
    """
    if reveal in {"source", "named"}:
        return parts
    if reveal == "bare":
        return _bare(parts, env)
    words = _Words(parts, env)
    success = parts.success.partition(":")[0]  # its condition may name joints and places of the simulator
    told = replace(parts, title="", description="", blocks=words.maps(), success=success)
    hidden: Parts = words.in_value(told)
    return replace(hidden, observation=_renumbered(hidden.observation), action=_renumbered(hidden.action))


def _renumbered(found: Sequence[Field]) -> list[Field]:
    """Fields whose new names may coincide, with a number behind those that do."""
    names = unique([item.name for item in found])
    return [replace(item, name=name) for item, name in zip(found, names, strict=True)]


def _bare(parts: Parts, env: gymnasium.Env[Any, Any]) -> Parts:
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


class _Words:
    """Replaces what identifies an environment, in every text of its parts."""

    def __init__(self, parts: Parts, env: gymnasium.Env[Any, Any]) -> None:
        self._parts = parts
        letters = {
            c for block in parts.blocks.values() for line in _drawing(block) for c in line if c.isupper()
        }
        self._letters = {letter: chr(ord("a") + i) for i, letter in enumerate(sorted(letters))}
        names = {name for name in _names(env) if name.lower() not in NEUTRAL}
        compound = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        self._compound = (
            re.compile(rf"(?<![A-Za-z])(?:{compound})(?![A-Za-z])", re.IGNORECASE) if names else None
        )
        own = {
            word: "object"
            for name in _names(env)
            for word in _split(name)
            if word not in COMMON and len(word) >= SHORTEST
        }
        self._table = {**own, **NEUTRAL, **known(env).neutral}
        words = "|".join(sorted(self._table, key=len, reverse=True))
        self._called: dict[str, str] = {}
        self._word = re.compile(rf"(?<![A-Za-z])({words})(s?)(?![A-Za-z])", re.IGNORECASE)

    def maps(self) -> dict[str, str]:
        """Drawings with other letters: a famous map would give itself away."""
        return {
            name: "\n".join(
                self._redrawn(line) if line in _drawing(text) else line for line in text.splitlines()
            )
            for name, text in self._parts.blocks.items()
        }

    def _redrawn(self, line: str) -> str:
        return "".join(self._letters.get(char, char) for char in line)

    def in_value(self, value: Any) -> Any:
        """The same value with every text in it replaced; paths, which a policy needs, stay."""
        if isinstance(value, str):
            return self.in_text(value)
        if isinstance(value, Field):
            return replace(
                value,
                name=self.in_text(value.name),
                meaning=self.in_text(value.meaning),
            )
        if is_dataclass(value) and not isinstance(value, type):
            changed = {
                item.name: self.in_value(getattr(value, item.name))
                for item in fields(value)
                if item.name not in {"action_example", "observation_form", "action_form", "sampling"}
            }
            return replace(value, **changed)
        if isinstance(value, dict):
            return {self.in_text(key): self.in_value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.in_value(item) for item in value)
        return value

    def in_text(self, text: str) -> str:
        """One text with neutral words."""
        text = re.sub(r"https?://\S+", "", text)
        if self._compound is not None:
            text = self._compound.sub("system", text)
        text = _CALLED.sub(self._part, text)
        text = self._word.sub(self._neutral, text)
        if self._letters:
            text = re.sub(r"\b[A-Z]\b", lambda m: self._letters.get(m[0], m[0]), text)
        return text

    def _part(self, match: re.Match[str]) -> str:
        """A simulator's name for a part, which code looks up, by a number instead."""
        number = self._called.setdefault(match[3], f"part{len(self._called) + 1}")
        return f"{match[1]}{match[2]}{number}{match[2]}"

    def _neutral(self, match: re.Match[str]) -> str:
        word = self._table[match[1].lower()] + (match[2] or "")
        if match[1].isupper():
            return word.upper()
        return word.capitalize() if match[1][0].isupper() else word


def _drawing(text: str) -> list[str]:
    return [
        line
        for line in text.splitlines()
        if re.fullmatch(r"[A-Z.|:+\- 0-9a-z]*", line) and not re.search(r"[a-z]{3}", line)
    ]


def _names(env: gymnasium.Env[Any, Any]) -> set[str]:
    """The environment's names: of its id and its class, in the ways that people write them."""
    found = {type(env.unwrapped).__name__.removesuffix("Env")}
    if env.spec is not None:
        found.add(re.sub(r"-v\d+$", "", env.spec.id).split("/")[-1])
        found |= set(env.spec.id.split("/")[:-1])
    spelled = set()
    for name in found:
        parts = _split(name)
        if len(parts) > 1 and not set(parts) <= COMMON:
            spelled |= {name, "".join(parts), " ".join(parts), "-".join(parts), "_".join(parts)}
    return {name for name in spelled | found if name and not set(_split(name)) <= COMMON}


def _split(name: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
