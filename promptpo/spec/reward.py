"""What a spec tells of the reward and the end: lines that passed their trial, what their variables are, and words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.spec.coded import coded
from promptpo.spec.names import is_fixed
from promptpo.spec.prose import sentences_of, told

if TYPE_CHECKING:
    import gymnasium

    from promptpo.spec.documentation import Documentation
    from promptpo.spec.known import Supplement
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Parts

MOST_CODE, MOST_ENDING = 7000, 900
"""Characters of code on the reward, and on what ends an episode; the longest of Meta-World's has 6,909."""

MOST_WORDS = 2200
"""Characters of words on the reward."""

BESIDE = 300
"""Characters of words that are shown beside code."""


def reward_parts(
    parts: Parts,
    env: gymnasium.Env[Any, Any],
    docs: Documentation,
    extra: Supplement,
    observed: Observed,
    sources: dict[str, str],
    *,
    beside_source: bool,
) -> Parts:
    """The parts with the reward: lines that gave every recorded reward, else words; words come beside them.

    Where there is neither, the range of the rewards that were seen.
    """
    trial, spaces = observed.trial, (env.observation_space, env.action_space)
    text = told(extra.reward or docs["reward"].text or _told_reward(env), MOST_WORDS)
    text = with_values(text, env.unwrapped)
    code = coded(trial, "reward", MOST_CODE, spaces) if not extra.reward and not beside_source else None
    if code is not None:
        parts = replace(parts, code={"reward": code})
        text = text if len(text) <= BESIDE else ""
        sources["reward"] = "source and documentation" if text else "source"
    else:
        sources["reward"] = "known" if extra.reward else "documentation" if text else "nothing found"
        if text and sources["reward"] == "documentation":
            text = f"In its author's words: {text}"
        elif not text and not beside_source:
            text = "How it is computed is not known."
    for name in (
        () if extra.end or beside_source else ("terminated", "truncated")[: 2 if parts.horizon is None else 1]
    ):
        if (code := coded(trial, name, MOST_ENDING, spaces)) is not None:
            known = parts.words  # a line of another function may read it at another time of a step
            words = {
                key if known.get(key, said) == said else f"{key} in {name}": said
                for key, said in code.words.items()
            }
            end = parts.end if len(parts.end) <= BESIDE else ""
            parts = replace(parts, code={**parts.code, name: replace(code, words=words)}, end=end)
    return replace(parts, reward_text=text)


def with_values(text: str, owner: Any) -> str:
    """Prose followed by the values of the parameters of an environment that it names: "reset_noise_scale = 0.1"."""
    told = [text]
    for name in dict.fromkeys(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)):
        for kept in (name, f"_{name}"):
            value = vars(owner).get(kept)
            if isinstance(value, bool | int | float | tuple | list) and is_fixed(owner, kept):
                told.append(f"{name} = {value}")
    return "\n".join(told)


_TITLES = re.compile(r"^\s*(?::\w+|Args:|Parameters|Returns:$)", re.MULTILINE)


def _told_reward(env: gymnasium.Env[Any, Any]) -> str:
    """Sentences on the reward, where no section is about it: of ``step`` and of what computes it."""
    names = ("step", "_reward", "_get_reward", "compute_reward", "_compute_reward")
    methods = [getattr(env.unwrapped, name) for name in names if hasattr(env.unwrapped, name)]
    sentences = [s for one in methods for s in sentences_of(_TITLES.split(one.__doc__ or "")[0])]
    return " ".join(dict.fromkeys(s for s in sentences if re.search(r"\breward|\bpenal", s, re.IGNORECASE)))
