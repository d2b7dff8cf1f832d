"""Fixtures of the provider tests: a clean environment, a server and the two SDK providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.promptpo.llm.asking import KEY, Provider
from tests.promptpo.llm.wire_server import WireServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the developer's environment variables, and shorten the pause before a retry."""
    monkeypatch.setattr("promptpo.llm.retrying.FIRST_PAUSE_SECONDS", 0.001)
    for name in ("ANTHROPIC", "OPENAI"):
        for variable in (f"{name}_API_KEY", f"{name}_BASE_URL", f"PROMPTPO_{name}_MODEL"):
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("PROMPTPO_MODEL", raising=False)
    monkeypatch.delenv("PROMPTPO_PRICES", raising=False)


@pytest.fixture
def server() -> Iterator[WireServer]:
    """A fresh server."""
    server = WireServer()
    yield server
    server.close()


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest, server: WireServer, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """Each of the two SDK providers, with a key."""
    provider = Provider(request.param, server)
    monkeypatch.setenv(provider.key_variable, KEY)
    return provider
