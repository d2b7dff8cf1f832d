"""What a spec says of observations that are texts: examples, and the words in them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
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

STARTS, SECONDS = 40, 3.0
"""Resets that are made to see more first texts, and how long they may take in all."""

FIRST_SEED = 100
"""Of these resets."""

MOST_TEXTS, MOST_WORDS = 10, 120
"""Texts and words that are told."""

LONGEST = 300
"""Characters of a text that are told."""


def with_texts(parts: Parts, env: gymnasium.Env[Any, Any], observed: Observed, name: str) -> Parts:
    """The parts with what the texts in the observation are like.

    Args:
        parts: What is known without.
        env: The environment; it is reset some more times.
        observed: What was seen already.
        name: For error messages.

    Raises:
        EnvironmentFaultError: A reset failed.
    """
    paths = [path for path, leaf in leaves(env.observation_space) if isinstance(leaf, spaces.Text)]
    seen = [*observed.observations, *_starts(env, name)] if paths else []
    blocks = dict(parts.blocks)
    for n, path in enumerate(paths):
        texts = list(dict.fromkeys(str(at(observation, path)) for observation in seen))
        expression = "obs" + "".join(f"[{json.dumps(key)}]" for key in path)
        head = f"{expression}: {len(texts)} different texts among {len(seen)} observations"
        blocks[f"TEXTS_{n + 1}" if len(paths) > 1 else "TEXTS"] = "\n".join([head, *_told(texts)])
    return replace(parts, blocks=blocks)


def _starts(env: gymnasium.Env[Any, Any], name: str) -> Iterator[Any]:
    """First observations of more episodes."""
    until = time.monotonic() + SECONDS
    for seed in range(FIRST_SEED, FIRST_SEED + STARTS):
        try:
            with patience(STEPPING, f"a reset of {name}"):
                observation, _ = env.reset(seed=seed)
        except Exception as fault:  # a foreign environment: anything can come out of it
            raise EnvironmentFaultError(
                f"the environment {name} raised {type(fault).__name__} in reset(seed={seed}): {fault}{place_of(fault)}"
            ) from fault
        yield observation
        if time.monotonic() > until:
            return


def _told(texts: Sequence[str]) -> Iterator[str]:
    if all(text.lstrip().startswith(("{", "[")) for text in texts):
        yield "each is JSON: from json import loads; loads(text) gives its value"
    step = max(1, len(texts) // MOST_TEXTS)
    for text in texts[::step][:MOST_TEXTS]:
        line = " ".join(text.split())
        yield f"- {line if len(line) <= LONGEST else f'{line[:LONGEST]}...'}"
    words = sorted({word for text in texts for word in text.split()})
    more = f" and {len(words) - MOST_WORDS} more" if len(words) > MOST_WORDS else ""
    yield f"the {len(words)} words seen: {' '.join(words[:MOST_WORDS])}{more}"
