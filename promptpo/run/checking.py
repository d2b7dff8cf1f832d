"""Checks of settings before anything starts, each with a sentence that names the setting and its valid values."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from promptpo.core.config import Budget, Config, Switches, groups_of
from promptpo.core.feature import run_settings, settings_of_features
from promptpo.errors import UsageError
from promptpo.llm.base import members_of
from promptpo.llm.prices import parse_price
from promptpo.run.config_file import make_typed, values_of
from promptpo.settings import check_names
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo.llm.base import LLM


def with_settings(config: Config, given: Mapping[str, Any]) -> Config:
    """Return the configuration with other settings by field name, limits included, converted to the right types.

    Raises:
        UsageError: A value is invalid; the message names it and its valid values.
    """
    from pydantic import ValidationError

    values = {**values_of(config), **given}
    values["budget"] |= {f.name: given[f.name] for f in fields(Budget) if f.name in given}
    if isinstance(values["spec_file"], os.PathLike):
        values["spec_file"] = os.fspath(values["spec_file"])
    try:
        typed = make_typed(values)
    except ValidationError as error:
        raise UsageError(_sentence(error.errors()[0])) from error
    try:
        json.dumps(values_of(typed), ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise UsageError(
            f"{half!r} in the settings is an incomplete character, which cannot be written to a file; if it is part of a letter, set PYTHONUTF8=1."
        ) from error
    switches = (f.name for kind in groups_of(Switches) for f in fields(kind))
    check_names(values["recipe_options"], switches, "recipes have no switch")
    parse_price(typed.price)
    if typed.stop_at is not None and not math.isfinite(typed.stop_at):
        raise UsageError(f"--stop-at must be a finite number, not {typed.stop_at}.")
    if typed.stop_at is not None and typed.recipe_options.get("early_stop") is False:
        raise UsageError(
            "--stop-at has no effect with early_stop=false, which runs all rounds; leave one of them out."
        )
    if typed.frames and typed.reveals not in {"source", "named"}:
        raise UsageError(
            f"--frames shows which environment it is, which --reveal {typed.reveals} hides; leave one of them out."
        )
    return replace(typed, task=typed.task.validate())


def _sentence(error: Mapping[str, Any]) -> str:
    """Turn a pydantic error into a sentence for people."""
    where = [part for part in error["loc"] if part not in {"budget", "task"}] or error["loc"]
    name = {setting.name: setting.keyword for setting in run_settings()}.get(where[0], where[0])
    return f"{name} {error['msg'].replace('Input should', 'must')}, not {error['input']!r:.60}."


def check_model(config: Config, llm: LLM) -> None:
    """Refuse settings that the provider cannot obey, before any request.

    Raises:
        UsageError: A cost limit without a known price, an unsupported effort, or a feature's refusal.
    """
    if config.effort is not None and not llm.capabilities.takes_effort:
        raise UsageError(f"--effort is for anthropic: and openai: models; {clean_name(llm.name)} takes none.")
    unpriced = [model.name for model in members_of(llm) if not model.capabilities.price_known]
    if config.budget.usd is not None and unpriced:
        raise UsageError(
            f"--max-usd cannot limit {clean_name(' and '.join(unpriced))}, whose price is unknown: state it with --price IN,OUT "
            "(US dollars per million tokens), that of several models in a file that PROMPTPO_PRICES names, or limit the "
            "run with --max-tokens or --max-calls instead."
        )
    for settings in settings_of_features(config):
        settings.check(config, llm)
