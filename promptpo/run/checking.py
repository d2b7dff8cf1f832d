"""Settings that are refused before anything starts, each with a sentence that names it and what it may be."""

from __future__ import annotations

import difflib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from promptpo.errors import UsageError
from promptpo.llm.prices import check_price
from promptpo.run.config import Budget, Config
from promptpo.run.journal import adapter
from promptpo.run.recipe import Recipe
from promptpo.run.settings import settings_of

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.llm.base import LLM

T = TypeVar("T")

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
    options = config.recipe_options
    if not isinstance(options, Mapping):
        raise UsageError(f"recipe_options must be a mapping of names to values, not {options!r}.")
    check_names(options, (field.name for field in fields(Recipe)), "recipes have no switch")
    spec = os.fspath(config.spec_file) if isinstance(config.spec_file, os.PathLike) else config.spec_file
    typed = _typed(Config, {**asdict(config), "spec_file": spec})
    try:
        json.dumps(asdict(typed), ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise UsageError(
            f"{half!r} in the settings is half of a character, which no file can hold."
        ) from error
    switches = _typed(Recipe, asdict(typed.switches))
    if typed.price is not None:
        check_price(typed.price)
    if typed.frames and typed.reveal not in {"source", "named"}:
        raise UsageError(
            f"--frames shows which environment it is, which --reveal {typed.reveal} hides; leave one of them out."
        )
    if typed.stop_at is not None and math.isnan(typed.stop_at):
        raise UsageError("stop_at must be a number, not NaN.")
    longest = typed.task.max_episode_steps
    if longest is not None and longest < 1:
        raise UsageError(f"max_episode_steps must be at least 1, not {longest}.")
    task = typed.task.checked()
    return replace(typed, task=task, recipe_options={name: getattr(switches, name) for name in options})


def config_of(task: Task, options: Mapping[str, Any], **fixed: Any) -> Config:
    """The configuration of a run.

    Args:
        task: What is to be solved.
        options: Settings by their keywords; those that are left out keep their defaults.
        **fixed: Other fields.

    Raises:
        UsageError: There is no such option, or its value cannot be used.
    """
    known = {one.keyword: one for one in settings_of(Config)}
    check_names(options, known, "there is no setting")
    limits = {field.name for field in fields(Budget)}
    given = {known[keyword].name: value for keyword, value in options.items()}
    budget = Budget(**{name: given.pop(name) for name in limits & set(given)})
    return checked(Config(task=task, budget=budget, **given, **fixed))


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
    where = [part for part in error["loc"] if part not in {"budget", "task"}] or error["loc"]
    name, given, kind = str(where[0]), error["input"], str(error["type"])
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        near = difflib.get_close_matches(str(given), allowed, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        return f"{name} takes {', '.join(allowed)}, not {given!r}.{hint}"
    if str(given) == "nan":
        return f"{name} must be a number, not NaN."
    if kind.startswith("greater_than"):
        least, above = (error["ctx"].get(bound) for bound in ("ge", "gt"))
        if least is None:
            return f"the limit on {name} must be more than {above:g}, not {given}."
        return f"{name} must be at least {least:g}, not {given}."
    if kind.startswith("less_than"):
        return f"{name} must be at most {error['ctx']['le']:,}."
    wanted = next((words for begin, words in KINDS if kind.startswith(begin)), None)
    if wanted is None:
        return f"{name} cannot be {given!r}: {error['msg']}."
    return f"{name} must be {wanted}, not {given!r}."


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
