"""The reward in words: those of a table of ours, or of the environment's author."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.spec.prose import clean_prose, sentences_of

if TYPE_CHECKING:
    import gymnasium

    from promptpo.spec.documentation import Documentation
    from promptpo.spec.known import Supplement
    from promptpo.spec.parts import Parts

MOST_WORDS = 2200
"""Characters of words on the reward."""

UNKNOWN = "How it is computed is not known."


def reward_parts(
    parts: Parts,
    env: gymnasium.Env[Any, Any],
    docs: Documentation,
    extra: Supplement,
    sources: dict[str, str],
    *,
    beside_source: bool,
) -> Parts:
    """The parts with the reward in words, which are the author's where no table of ours has any."""
    text = clean_prose(extra.reward or docs["reward"].text or _reward_sentences(env), MOST_WORDS)
    sources["reward"] = "known" if extra.reward else "documentation" if text else "nothing found"
    if text and not extra.reward:
        text = f"In its author's words: {text}"
    if beside_source and not text:
        sources["reward"] = "source"
    return replace(parts, reward_text=text or ("" if beside_source else UNKNOWN))


_TITLES = re.compile(r"^\s*(?::\w+|Args:|Parameters|Returns:$)", re.MULTILINE)


def _reward_sentences(env: gymnasium.Env[Any, Any]) -> str:
    """Sentences on the reward, where no section is about it: of ``step`` and of what computes it."""
    names = ("step", "_reward", "_get_reward", "compute_reward", "_compute_reward")
    methods = [getattr(env.unwrapped, name) for name in names if hasattr(env.unwrapped, name)]
    sentences = [s for method in methods for s in sentences_of(_TITLES.split(method.__doc__ or "")[0])]
    return " ".join(dict.fromkeys(s for s in sentences if re.search(r"\breward|\bpenal", s, re.IGNORECASE)))
