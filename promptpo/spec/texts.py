"""What a spec says of observations that are texts: examples, the words in them, or how their JSON is made."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from promptpo.envs.patience import STEPPING, patience
from promptpo.envs.spaces import at, leaves
from promptpo.errors import EnvironmentFaultError, place_of

if TYPE_CHECKING:
    import gymnasium

    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Parts

BLOCK = "TEXTS"

STARTS, SECONDS = 40, 3.0
"""Resets that are made to see more first texts, and how long they may take in all."""

FIRST_SEED = 100
"""Of these resets."""

MOST_TEXTS, MOST_WORDS, MOST_KEYS = 10, 120, 30
"""Texts, words and keys that are told."""

LONGEST = 300
"""Characters of a text that are told."""

MOST_PLACES = 24
"""Words of texts that are told place by place."""

MOST_CHOICES = 12
"""Words at one place that are told as choices."""


def with_texts(parts: Parts, env: gymnasium.Env[Any, Any], observed: Observed, name: str) -> Parts:
    """The parts with what the texts in the observation are like; the same where none of them ever changes.

    Args:
        parts: What is known without.
        env: The environment; it is reset some more times.
        observed: What was seen already.
        name: For error messages.

    Raises:
        EnvironmentFaultError: A reset failed.
    """
    paths = [path for path, leaf in leaves(env.observation_space) if isinstance(leaf, spaces.Text)]
    if not paths:
        return parts
    seen = [*observed.observations, *_starts(env, name)]
    blocks = dict(parts.blocks)
    for n, path in enumerate(paths):
        texts = list(dict.fromkeys(str(at(observation, path)) for observation in seen))
        if len(texts) > 1 or _json([text for text in texts if text]) is not None:
            expression = "obs" + "".join(f"[{json.dumps(key)}]" for key in path)
            head = f"{expression}: {len(texts)} different texts among {len(seen)} observations"
            block = f"{BLOCK}_{n + 1}" if len(paths) > 1 else BLOCK
            blocks[block] = "\n".join([head, *_told([text for text in texts if text])])
    return replace(parts, blocks=blocks)


def _starts(env: gymnasium.Env[Any, Any], name: str) -> Iterator[Any]:
    """First observations of more episodes."""
    began = time.monotonic()
    for seed in range(FIRST_SEED, FIRST_SEED + STARTS):
        try:
            with patience(STEPPING, f"a reset of {name}"):
                observation, _ = env.reset(seed=seed)
        except Exception as fault:  # a foreign environment: anything can come out of it
            raise EnvironmentFaultError(
                f"the environment {name} raised {type(fault).__name__} in reset(seed={seed}): {fault}{place_of(fault)}"
            ) from fault
        yield observation
        if time.monotonic() - began > SECONDS:
            return


def _told(texts: Sequence[str]) -> Iterator[str]:
    values = _json(texts)
    if values is not None:
        yield "each is JSON: from json import loads; loads(text) gives"
        yield from _structure(values)
        yield f"for example {_cut(max(texts, key=len))}"
        return
    for text in _spread(texts, MOST_TEXTS):
        yield f"- {_cut(text)}"
    split = [text.split() for text in texts]
    if len(texts) > 1 and len({len(words) for words in split}) == 1 and len(split[0]) <= MOST_PLACES:
        yield "word by word: " + " ".join(_choice(words) for words in zip(*split, strict=True))
        return
    words = sorted({word for line in split for word in line})
    more = f" and {len(words) - MOST_WORDS} more" if len(words) > MOST_WORDS else ""
    yield f"the {len(words)} words seen: {' '.join(words[:MOST_WORDS])}{more}"


def _choice(words: Sequence[str]) -> str:
    """What stands at one place."""
    found = sorted(set(words))
    if len(found) == 1:
        return found[0]
    return f"({'|'.join(found[:MOST_CHOICES])}{'|...' if len(found) > MOST_CHOICES else ''})"


def _json(texts: Sequence[str]) -> list[Any] | None:
    """The values of texts that are all JSON objects or lists; None where one is not."""
    values = []
    for text in texts:
        if not text.lstrip().startswith(("{", "[")):
            return None
        try:
            values.append(json.loads(text))
        except (ValueError, RecursionError):
            return None
    return values or None


def _structure(values: Sequence[Any]) -> Iterator[str]:
    """The keys of objects with the kinds of their values; for lists the kinds of their items."""
    objects = [value for value in values if isinstance(value, Mapping)]
    if len(objects) < len(values):
        lengths = sorted({len(value) for value in values})
        yield f"lists of {lengths[0]} to {lengths[-1]} items: {_kinds([i for v in values for i in v])}"
        return
    keys = list(dict.fromkeys(key for value in objects for key in value))
    for key in keys[:MOST_KEYS]:
        found = [value[key] for value in objects if key in value]
        sometimes = "" if len(found) == len(objects) else ", not always there"
        yield f"{json.dumps(key)}: {_kinds(found)}{sometimes}"
    if len(keys) > MOST_KEYS:
        yield f"and {len(keys) - MOST_KEYS} more keys"


def _kinds(values: Sequence[Any]) -> str:
    """What values there are: a range of numbers, some texts, or the kinds."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if values and len(numbers) == len(values):
        return f"number, seen {min(numbers):.4g} .. {max(numbers):.4g}"
    if values and all(isinstance(value, str) for value in values):
        distinct = sorted(set(values))
        some = ", ".join(json.dumps(_cut(text, 40)) for text in distinct[:MOST_CHOICES])
        return f"str, such as {some}"
    return " or ".join(sorted({type(value).__name__ for value in values})) or "nothing"


def _spread(texts: Sequence[str], most: int) -> Sequence[str]:
    if len(texts) <= most:
        return texts
    return [texts[round(i * (len(texts) - 1) / (most - 1))] for i in range(most)]


def _cut(text: str, most: int = LONGEST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}..."
