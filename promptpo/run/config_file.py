"""A run's settings as a file: ``config.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from promptpo.core.config import Config, Switches, groups_of
from promptpo.core.feature import FeatureSettings, settings_of_features
from promptpo.core.journal import adapter, file_of_run
from promptpo.errors import RunError
from promptpo.llm.credentials import hide_credentials
from promptpo_sandbox.errors import SandboxError

CONFIG = "config.toml"

MAX_TOML_CHARACTERS = 8_000
"""Length limit for parsing TOML in this process; longer texts, which may take tomllib minutes, go to the reader."""


def values_of(config: Config) -> dict[str, Any]:
    """Return all settings by name, as `make_typed` takes them."""
    values = asdict(config)
    del values["features"]
    return values | {
        name: value for each in settings_of_features(config) for name, value in vars(each).items()
    }


def make_typed(values: Mapping[str, Any]) -> Config:
    """Build a configuration from settings by name, with validation; undeclared names are ignored.

    Raises:
        ValidationError: A value is invalid.
    """
    config: Config = adapter(Config).validate_python({**values, "features": {}})
    features: dict[str, Any] = {}
    for kind in groups_of(FeatureSettings):
        found = vars(adapter(kind).validate_python(dict(values)))
        features |= {name: value for name, value in found.items() if value != getattr(kind, name)}
    options: dict[str, Any] = {}
    for switches in groups_of(Switches):
        options |= vars(adapter(switches).validate_python(dict(config.recipe_options)))
    given = {name: options.get(name, value) for name, value in config.recipe_options.items()}
    return replace(config, features=features, recipe_options=given)


def config_text(config: Config) -> str:
    """Return a configuration as TOML, without None values."""
    import tomli_w

    config = replace(config, task=replace(config.task, files=None))
    return tomli_w.dumps(_without_none(values_of(config)))


def load_config(path: Path) -> Config:
    """Read a file written from `config_text`.

    Raises:
        RunError: The file is missing or does not describe a run.
    """
    text = file_of_run(path)
    try:
        table = _table(text.decode())
        _check_address(path, table.get("base_url"))
        config = make_typed(table)
        return replace(config, task=config.task.restrict_files(config.files))
    except (
        ValueError,
        RecursionError,
        SandboxError,
    ) as error:  # errors of pydantic and tomllib are ValueErrors
        raise RunError(f"{path} is damaged: {' '.join(str(error).split())[:200]}.") from error


def _check_address(path: Path, address: Any) -> None:
    """Refuse a configuration that contains a password.

    Raises:
        RunError: The server's address contains credentials.
    """
    if isinstance(address, str) and hide_credentials(address) != address:
        raise RunError(
            f"{path} has a user name or password in base_url; take them out, and set OPENAI_BASE_URL (or ANTHROPIC_BASE_URL) "
            "to the address with them."
        )


def _table(text: str) -> Any:
    if len(text) < MAX_TOML_CHARACTERS:
        return tomllib.loads(text)
    from promptpo.program.reader import read  # rarely needed

    return read("toml", text)


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
