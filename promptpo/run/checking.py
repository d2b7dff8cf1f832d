"""Settings that are refused before anything starts, each with a sentence that names it and what it may be."""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from promptpo.errors import UsageError
from promptpo.llm.prices import check_price
from promptpo.run.adapters import adapter
from promptpo.run.config import Budget, Config, Recipe

if TYPE_CHECKING:
    from promptpo.llm.base import LLM

T = TypeVar("T")

AT_LEAST: Mapping[str, int] = {
    "rounds": 1, "candidates": 1, "episodes": 1, "validation_episodes": 1, "test_episodes": 1,
    "max_output_tokens": 1, "max_prompt_tokens": 1, "repairs": 0, "jobs": 0, "seed": 0, "temperature": 0,
    "max_episode_steps": 1,
    "validate": 1, "best_k": 1, "racing": 0, "islands": 1, "migrate_every": 1,
    "probe_episodes": 1, "probe_steps": 1,
}  # fmt: skip
"""The least that a setting or a recipe's switch may be, where it is a number that is given."""

LIMITS = ("steps", "calls", "tokens", "usd", "seconds")
"""Fields of the budget that must be more than 0."""

KINDS = (
    ("int", "a whole number"),
    ("float", "a number"),
    ("bool", "true or false"),
    ("string", "text"),
    ("dict", "a mapping of names to values"),
    ("mapping", "a mapping of names to values"),
)
"""What is wanted, in words, by the beginning of pydantic's name for the error."""


def checked(config: Config) -> Config:
    """The same settings with values of the right types.

    Raises:
        UsageError: A value cannot be used; the sentence names it and says what it may be.
    """
    values = {field.name: getattr(config, field.name) for field in fields(Config)}
    if isinstance(config.spec_file, os.PathLike):
        values["spec_file"] = os.fspath(config.spec_file)
    if isinstance(config.budget, Budget):
        values["budget"] = _typed(Budget, {f.name: getattr(config.budget, f.name) for f in fields(Budget)})
    options = config.recipe_options
    if not isinstance(options, Mapping):
        raise UsageError(f"recipe_options must be a mapping of names to values, not {options!r}.")
    check_names(options, (field.name for field in fields(Recipe)), "recipes have no switch")
    values["task"] = _typed(
        type(config.task), {f.name: getattr(config.task, f.name) for f in fields(config.task)}
    ).checked()
    typed = _typed(Config, values)
    switches = _typed(Recipe, {f.name: getattr(typed.switches, f.name) for f in fields(Recipe)})
    given = {name: getattr(switches, name) for name in options}
    for value in (typed, typed.budget, typed.task):
        given.update({field.name: getattr(value, field.name) for field in fields(value)})
    if typed.price is not None:
        check_price(typed.price)
    if typed.frames and typed.reveal not in {"source", "named"}:
        raise UsageError(
            f"--frames shows which environment it is, which --reveal {typed.reveal} hides; leave one of them out."
        )
    _check_bounds(given)
    return replace(typed, recipe_options={name: getattr(switches, name) for name in options})


def config_of(**settings: Any) -> Config:
    """The configuration that these fields of `Config` make.

    Raises:
        UsageError: There is no such field, or its value cannot be used.
    """
    check_names(settings, (field.name for field in fields(Config)), "there is no setting")
    return checked(Config(**settings))


def check_names(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse names that are not known.

    Args:
        given: The names.
        known: Those that there are.
        what: How the sentence begins, for example "there is no setting".

    Raises:
        UsageError: Names the first that is not known, and the nearest that is.
    """
    names = sorted(known)
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}."
            raise UsageError(f"{what} {name!r}; {hint}")


def _typed(of: type[T], values: Mapping[str, Any]) -> T:
    from pydantic import ValidationError

    try:
        value: T = adapter(of).validate_python(dict(values))
    except ValidationError as error:
        raise UsageError(_sentence(error.errors()[0])) from error
    return value


def _sentence(error: Mapping[str, Any]) -> str:
    """One of pydantic's errors, as a person would say it."""
    name, given, kind = str(error["loc"][0]), error["input"], str(error["type"])
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        near = difflib.get_close_matches(str(given), allowed, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        return f"{name} takes {', '.join(allowed)}, not {given!r}.{hint}"
    wanted = next((words for begin, words in KINDS if kind.startswith(begin)), None)
    if wanted is None:
        return f"{name} cannot be {given!r}: {error['msg']}."
    return f"{name} must be {wanted}, not {given!r}."


def _check_bounds(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is None or isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if math.isnan(value):
            raise UsageError(f"{name} must be a number, not NaN.")
        if name in LIMITS and value <= 0:
            raise UsageError(f"the limit on {name} must be more than 0, not {value:g}.")
        if name in AT_LEAST and value < AT_LEAST[name]:
            words = name.replace("_", " ") if name.endswith("episodes") else name
            raise UsageError(f"{words} must be at least {AT_LEAST[name]}, not {value:g}.")


def check_goal(config: Config, llm: LLM) -> None:
    """Refuse a goal that nobody can write a reward for.

    Raises:
        UsageError: No language model is asked, it is a recording without one, or there is a reward already.
    """
    reward = config.task.reward
    if not config.goal and config.judge != "model":
        raise UsageError("--judge me is for --goal: it asks you which of two episodes comes closer to it.")
    if not config.goal:
        return
    if reward is not None and reward.goal != config.goal:
        raise UsageError("--goal has the model write the reward, and --reward gives one: use one of the two.")
    if not (llm.language_model and (reward is not None or "reward" in llm.purposes)):
        raise UsageError(
            "--goal needs a language model, which writes the reward: name one with --model, or write the reward "
            "yourself and give it with --reward."
        )
