"""Describe text observations in a spec: examples and vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gymnasium import spaces

from promptpo.envs.spaces import at, leaves, path_expression

if TYPE_CHECKING:
    from promptpo.envs.spaces import AnySpace
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Parts

MAX_TEXTS, MAX_WORDS = 10, 120
"""Texts and words listed."""

MAX_TEXT_CHARACTERS = 300
"""Characters shown of a text."""


def with_texts(parts: Parts, space: AnySpace, observed: Observed) -> Parts:
    """Describe the texts in the observation; return the parts unchanged if there are none."""
    paths = [path for path, leaf in leaves(space) if isinstance(leaf, spaces.Text)]
    seen = [*observed.observations, *observed.starts]
    lines = list[str]()
    for path in paths:
        texts = list(dict.fromkeys(str(at(observation, path)) for observation in seen))
        lines += [
            f"{path_expression('obs', path)}: {len(texts)} different text{'s' * (len(texts) != 1)} among {len(seen)} observations",
            *_describe_texts(texts),
        ]
    return replace(parts, blocks={**parts.blocks, "TEXTS": "\n".join(lines)}) if lines else parts


def _describe_texts(texts: Sequence[str]) -> Iterator[str]:
    if all(text.lstrip().startswith(("{", "[")) for text in texts):
        yield "each is JSON: from json import loads; loads(text) gives its value"
    for text in texts[:MAX_TEXTS]:
        line = " ".join(text.split())
        yield f"- {line if len(line) <= MAX_TEXT_CHARACTERS else f'{line[:MAX_TEXT_CHARACTERS]}...'}"
    words = sorted({word for text in texts for word in text.split()})
    more = f" and {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
    yield f"the {len(words)} word{'s' * (len(words) != 1)} seen: {' '.join(words[:MAX_WORDS])}{more}"
