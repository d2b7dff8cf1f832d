"""What a spec tells of the reward: code, what its variables are, and words."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.spec.parts import NOT_OBSERVED
from promptpo.spec.places import EARLY, HIDDEN, places, variables_in
from promptpo.spec.prose import sentences_of, trimmed, without_defaults
from promptpo.spec.reward_code import AFTER, ENDING, MARK, ending_code, reward_code
from promptpo.spec.source import Source

if TYPE_CHECKING:
    from collections.abc import Collection

    import gymnasium

    from promptpo.envs.task import Task
    from promptpo.spec.documentation import Documentation
    from promptpo.spec.known import Supplement
    from promptpo.spec.parts import Parts, RewardCode

_DEFINED = re.compile(r"def (\w+)\(")

MOST_ENDING = 700
"""Characters of code on what ends an episode."""

SHARE = 0.5
"""Code that is shorter than this share of the words on it stands for them."""


def reward_parts(
    parts: Parts,
    env: gymnasium.Env[Any, Any],
    docs: Documentation,
    extra: Supplement,
    room: tuple[int, int],
    sources: dict[str, str],
) -> Parts:
    """The parts with the reward: code where there is code to show, and words; `room` is characters for each."""
    code = None if extra.hide_reward_code else reward_code(env, max_chars=room[0])
    told = extra.reward_text or docs["reward"].text or _told_reward(env, docs)
    text = trimmed(told, room[1])
    if code is not None:
        left = room[1] - sum(map(len, code.functions))
        text = without_defaults(text)
        text = text if len(text) <= left else ""
        sources["reward"] = "source and documentation" if text else "source"
    else:
        sources["reward"] = "known" if extra.reward_text else "documentation" if text else "nothing found"
        text = text or "Not documented; the feedback shows the rewards that a policy got."
    untold = code is None and not extra.hide_reward_code and not parts.end
    ended = ending_code(env, max_chars=MOST_ENDING) if code is not None or untold else None
    if code is None:
        code = ended
    elif ended is not None:
        more = [function for function in ended.functions if function not in code.functions]
        code = replace(code, functions=[*code.functions, *more], words={**ended.words, **code.words})
    return replace(parts, reward_code=code, reward_text=text)


def _with_one_ending(parts: Parts, hidden: Collection[str]) -> Parts:
    """The parts with the code of what ends an episode, or the words on it: code where it says it by what is observed.

    Where there are no words the code stays in any case.
    """
    code = parts.reward_code
    index = (
        next((n for n, text in enumerate(code.functions) if text.startswith(f"def {ENDING}(")), None)
        if code
        else None
    )
    if code is None or index is None or not parts.end:
        return parts
    own = "\n".join(code.functions[index:])
    if not any(name in own for name in hidden) and len(own) <= SHARE * len(parts.end):
        return replace(parts, end="")
    return replace(parts, reward_code=replace(code, functions=code.functions[:index]))


def only_ending(code: RewardCode | None) -> RewardCode | None:
    """What code says of the end of an episode alone, where the reward is another one; None where it says nothing."""
    functions = {
        found[1]: text for text in (code.functions if code else ()) if (found := _DEFINED.match(text))
    }
    if code is None or ENDING not in functions:
        return None
    reached, new = {ENDING}, {ENDING}
    while new:
        called = {name for one in new for name in re.findall(r"\b(\w+)\(", functions[one])}
        new = (called & functions.keys()) - reached
        reached |= new
    kept = [functions[ENDING], *(text for name, text in functions.items() if name in reached - {ENDING})]
    shown = "\n".join(kept)
    words = {
        name: text for name, text in code.words.items() if re.search(rf"\b{re.escape(name)}(?!\w)", shown)
    }
    return replace(code, functions=kept, words=words)


def _told_reward(env: gymnasium.Env[Any, Any], docs: Documentation) -> str:
    """Sentences on the reward, where no section is about it: in the docstrings of ``step`` and of what computes it."""
    source = Source(env.unwrapped)
    methods = [
        source.method(name)
        for name in ("step", "_reward", "_get_reward", "compute_reward", "_compute_reward")
    ]
    texts = [
        re.split(
            r"^\s*(?::\w+|Args:|Parameters|Returns:$)",
            ast.get_docstring(method.node) or "",
            flags=re.MULTILINE,
        )[0]
        for method in methods
        if method is not None
    ]
    sentences = [s for text in (*texts, docs["description"].text) for s in sentences_of(text)]
    return " ".join(dict.fromkeys(s for s in sentences if re.search(r"\breward|\bpenal", s, re.IGNORECASE)))


def with_places(parts: Parts, env: gymnasium.Env[Any, Any], task: Task) -> tuple[Parts, int]:
    """The parts with what the environment's variables in the reward are to a policy, and the steps it took."""
    code = parts.reward_code
    if code is None:
        return parts, 0
    variables = variables_in(code.functions)
    held = [words.removesuffix(AFTER) for words in code.words.values()]
    variables = (*variables, *(name for name in held if name.startswith("env.") and name not in variables))
    found, steps = places(env, variables, task.name) if variables else ({}, 0)
    unseen = {name for name in variables if not found.get(name, "").startswith("obs")}
    unseen |= {name for name, words in code.words.items() if words.removesuffix(AFTER) in unseen}
    parts = _with_one_ending(parts, unseen)
    code = parts.reward_code or code
    shown = "\n".join(code.functions)
    two = MARK in shown
    words = {}
    for name, text in code.words.items():
        held_in = text.removesuffix(AFTER)
        if re.search(rf"\b{re.escape(name)}\b", shown):
            words[name] = f"next_{found[held_in]}" if found.get(held_in, "").startswith("obs") else text
    hidden = []
    for name, text in found.items():
        if name in shown and text.startswith("obs"):
            words[name] = (
                f"{text} before the environment moves on, next_{text} after" if two else f"next_{text}"
            )
        elif name in shown:
            hidden.append(f"{name} ({text.removeprefix(HIDDEN)})")
    if hidden:
        ranges = f"; {EARLY}" if any("(seen " in text for text in hidden) else ""
        words[NOT_OBSERVED] = f"{', '.join(hidden)}{ranges}"
    return replace(parts, reward_code=replace(code, words=words)), steps
