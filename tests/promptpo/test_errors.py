"""The error tree is one, and drawn as it is."""

from __future__ import annotations

import importlib
import pkgutil

import promptpo
from promptpo import errors
from promptpo.errors import PromptPOError

ELSEWHERE = {"promptpo.rollouts.jobs.WorkerLostError"}
"""Handled where it is raised; never reaches a user."""


def test_every_error_is_in_the_tree() -> None:
    """No module of promptpo has a class of its own below `PromptPOError`."""
    found = set()
    for module in pkgutil.walk_packages(promptpo.__path__, "promptpo."):
        if not module.name.endswith(("__main__", "gguf_server", "renderer")):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, type) and issubclass(value, PromptPOError):
                    found.add(f"{value.__module__}.{value.__name__}")
    outside = {name for name in found if not name.startswith("promptpo.errors.")}
    assert outside <= ELSEWHERE


def test_the_drawing_names_every_class() -> None:
    """Whoever reads the docstring has read the tree."""
    drawn = errors.__doc__ or ""
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, PromptPOError):
            assert f"{value.__name__} " in drawn, value


def test_the_old_places_still_work() -> None:
    """What others import from where it was is the same class."""
    from promptpo.output.film import RenderingError
    from promptpo.output.policy import PolicyFailedError

    assert RenderingError is errors.RenderingError
    assert PolicyFailedError is errors.PolicyFailedError
