"""What a spec tells of the reward and the end: lines that passed their trial, what their variables are, and words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.spec.coded import coded
from promptpo.spec.names import is_fixed
from promptpo.spec.parts import Code
from promptpo.spec.prose import sentences_of, told
from promptpo.spec.render import span

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
) -> Parts:
    """The parts with the reward: lines that gave every recorded reward, else words; words come beside them.

    Where there is neither, the range of the rewards that were seen.
    """
    trial, spaces = observed.trial, (env.observation_space, env.action_space)
    text = told(extra.reward or docs["reward"].text or _told_reward(env, docs, parts.description), MOST_WORDS)
    text, found = with_values(text, env.unwrapped), dict[str, Code]()
    if not extra.reward and (code := coded(trial, "reward", MOST_CODE, spaces)) is not None:
        found["reward"] = code
        text = text if len(text) <= BESIDE else ""
        sources["reward"] = "source and documentation" if text else "source"
    else:
        sources["reward"] = "known" if extra.reward else "documentation" if text else "nothing found"
        seen = span(*(f(step.reward for step in observed.steps) for f in (min, max)))
        unknown = f"How it is computed is not known. In {len(observed.steps)} steps of random actions it was {seen}."
        text = text or unknown
    for name in () if extra.end else ("terminated", "truncated")[: 2 if parts.horizon is None else 1]:
        if (code := coded(trial, name, MOST_ENDING, spaces)) is not None:
            known = {key: said for one in found.values() for key, said in one.words.items()}
            words = {
                key if known.get(key, said) == said else f"{key} in {name}": said
                for key, said in code.words.items()
            }  # a line of another function may read it at another time of a step
            found[name] = replace(code, words=words)
    return replace(parts, code=found, reward_text=text)


def with_values(text: str, owner: Any) -> str:
    """Prose followed by the values of the parameters of an environment that it names: "reset_noise_scale = 0.1"."""
    names = dict.fromkeys(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text))
    kept = {name: one for name in names for one in (name, f"_{name}") if one in vars(owner)}
    told = {name: vars(owner)[one] for name, one in kept.items() if is_fixed(owner, one)}
    plain = {
        name: value for name, value in told.items() if isinstance(value, bool | int | float | tuple | list)
    }
    return "\n".join([text, *(f"{name} = {value}" for name, value in plain.items())])


_TITLES = re.compile(r"^\s*(?::\w+|Args:|Parameters|Returns:$)", re.MULTILINE)


def _told_reward(env: gymnasium.Env[Any, Any], docs: Documentation, known: str) -> str:
    """Sentences on the reward that are not `known`, where no section is about it: of ``step`` and of what computes it."""
    names = ("step", "_reward", "_get_reward", "compute_reward", "_compute_reward")
    methods = [getattr(env.unwrapped, name) for name in names if hasattr(env.unwrapped, name)]
    texts = [_TITLES.split(one.__doc__ or "")[0] for one in methods]
    sentences = [s for text in (*texts, docs["description"].text) for s in sentences_of(text)]
    earned = (s for s in sentences if re.search(r"\breward|\bpenal", s, re.IGNORECASE) and s not in known)
    return " ".join(dict.fromkeys(earned))
