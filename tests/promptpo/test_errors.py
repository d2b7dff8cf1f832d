"""All errors belong to one tree, which the module's docstring draws."""

from __future__ import annotations

import importlib
import pkgutil

import promptpo
from promptpo import errors
from promptpo.errors import PromptPOError

ELSEWHERE = {"promptpo.rollouts.jobs.WorkerLostError"}
"""Errors that are caught inside promptpo and never reach a user."""


def test_every_error_is_in_the_tree() -> None:
    """No other module defines a subclass of `PromptPOError`."""
    names = set()
    for module in pkgutil.walk_packages(promptpo.__path__, "promptpo."):
        if not module.name.endswith(("__main__", "gguf_server", "renderer")):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, type) and issubclass(value, PromptPOError):
                    names.add(f"{value.__module__}.{value.__name__}")
    outside = {name for name in names if not name.startswith("promptpo.errors.")}
    assert outside <= ELSEWHERE


def test_docstring_names_every_class() -> None:
    drawn = errors.__doc__ or ""
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, PromptPOError):
            assert f"{value.__name__} " in drawn, value


def test_former_import_paths_still_work() -> None:
    from promptpo.output.film import RenderingError
    from promptpo.output.policy import PolicyFailedError

    assert RenderingError is errors.RenderingError
    assert PolicyFailedError is errors.PolicyFailedError
