"""Packages that only baselines need, with a clear error if they are missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from promptpo.errors import MissingExtraError

BASELINES: Mapping[str, str] = {
    "stable_baselines3": "stable-baselines3",
    "sb3_contrib": "sb3-contrib",
    "yaml": "PyYAML",
}
SEARCHING: Mapping[str, str] = {"optuna": "optuna"}
LANGUAGE_POLICY: Mapping[str, str] = {**BASELINES, "transformers": "transformers"}


def require(modules: Mapping[str, str], *, what: str, extra: str = "baselines") -> None:
    """Check that modules are installed, without importing them.

    Args:
        modules: Package name by module.
        what: What needs them, as the subject of the sentence.
        extra: The extra that installs them.

    Raises:
        MissingExtraError: One of them is missing; the message has the pip command.
    """
    for module, package in modules.items():
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError(
                f'{what} needs {package}, which is not installed: pip install "promptpo[{extra}]"'
            )
