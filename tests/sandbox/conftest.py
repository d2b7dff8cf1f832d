"""Shared by the sandbox's tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from promptpo_sandbox import Sandbox
from tests.promptpo.nursery import start_copy, start_interpreter
from tests.sandbox.canaries import Canaries


@pytest.fixture(scope="package", autouse=True)
def sandboxes_of_their_own(warm_workers: None) -> Iterator[None]:
    """Here each sandbox starts as it does outside the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo_sandbox.process._start_interpreter", start_interpreter)
        yield


@pytest.fixture(scope="module")
def sandboxes_as_copies(sandboxes_of_their_own: None) -> Iterator[None]:
    """Sandboxes start as in all other tests: for files that start many, and are about what happens in them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo_sandbox.process._start_interpreter", start_copy)
        yield


@pytest.fixture(scope="package")
def box() -> Iterator[Sandbox]:
    """One sandbox with default limits, for policies that behave."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="package")
def open_directory() -> Iterator[Path]:
    """A directory that every user can enter; pytest's own lie under one that only its user can."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture(scope="package")
def canaries(open_directory: Path) -> Iterator[Canaries]:
    """What attacks must not touch."""
    directory = open_directory / "canaries"
    directory.mkdir()
    found = Canaries(directory)
    yield found
    found.close()
