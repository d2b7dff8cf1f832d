"""Settings that are refused before anything starts, each with a sentence that names it and what it may be."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from promptpo.core.config import Budget, Config
from promptpo.core.journal import adapter
from promptpo.core.recipe import Recipe
from promptpo.core.settings import settings_of
from promptpo.errors import UsageError
from promptpo.llm.prices import parse_price
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo.llm.base import LLM

T = TypeVar("T")


def check(config: Config) -> Config:
    """Check the settings; return them with values of the right types.

    Raises:
        UsageError: A value cannot be used; the sentence names it and says what it may be.
    """
    spec = os.fspath(config.spec_file) if isinstance(config.spec_file, os.PathLike) else config.spec_file
    typed = _convert(Config, {**asdict(config), "spec_file": spec})
    try:
        json.dumps(asdict(typed), ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise UsageError(
            f"{half!r} in the settings is an incomplete character, which cannot be written to a file."
        ) from error
    switches = _convert(Recipe, asdict(typed.switches))
    parse_price(typed.price)
    if typed.frames and typed.reveals not in {"source", "named"}:
        raise UsageError(
            f"--frames shows which environment it is, which --reveal {typed.reveals} hides; leave one of them out."
        )
    task = typed.task.validate()
    return replace(
        typed, task=task, recipe_options={name: getattr(switches, name) for name in typed.recipe_options}
    )


def with_settings(config: Config, given: Mapping[str, Any]) -> Config:
    """The configuration with other settings, by the names of their fields, limits included.

    Raises:
        UsageError: A value cannot be used.
    """
    limits = {field.name for field in fields(Budget)} & given.keys()
    budget = replace(config.budget, **{name: given[name] for name in limits})
    others = {name: value for name, value in given.items() if name not in limits}
    return check(replace(config, budget=budget, **others))


def _convert(of: type[T], values: Mapping[str, Any]) -> T:
    from pydantic import ValidationError

    try:
        value: T = adapter(of).validate_python(dict(values))
    except ValidationError as error:
        raise UsageError(_sentence(error.errors()[0])) from error
    return value


def _sentence(error: Mapping[str, Any]) -> str:
    """One of pydantic's errors, as a person would say it."""
    where = [part for part in error["loc"] if part not in {"budget", "task"}] or error["loc"]
    name = {setting.name: setting.keyword for setting in settings_of(Config)}.get(where[0], where[0])
    return f"{name} {error['msg'].replace('Input should', 'must')}, not {error['input']!r:.60}."


def check_model(config: Config, llm: LLM) -> None:
    """Refuse what a provider cannot heed, before anything is asked.

    Raises:
        UsageError: A limit on money for calls without a known price, an effort for what takes none, or a goal that nobody
            can write a reward for: no language model is asked, it is a recording without one, or there is a reward already.
    """
    if config.effort is not None and not llm.capabilities.takes_effort:
        raise UsageError(f"--effort is for anthropic: and openai: models; {clean_name(llm.name)} takes none.")
    if config.budget.usd is not None and not llm.capabilities.price_known:
        raise UsageError(
            f"--max-usd cannot limit {clean_name(llm.name)}, whose price is unknown: state it with --price IN,OUT "
            f"(US dollars per million tokens), or limit the run with --max-tokens or --max-calls instead."
        )
    reward = config.task.reward
    if not config.goal and config.judge != "model":
        raise UsageError("--judge me is for --goal: it asks you which of two episodes comes closer to it.")
    if not config.goal:
        return
    if reward is not None and reward.goal != config.goal:
        raise UsageError("--goal has the model write the reward, and --reward gives one: use one of the two.")
    if not (
        llm.capabilities.language_model and (reward is not None or "reward" in llm.capabilities.purposes)
    ):
        raise UsageError(
            "--goal needs a language model, which writes the reward: name one with --model, or write the reward "
            "yourself and give it with --reward."
        )
