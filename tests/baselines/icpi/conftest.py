"""Fixtures of the tests of ICPI."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.baselines.icpi.completion_server import CompletionServerForTests
from tests.baselines.icpi.worlds import CHAIN, oracle


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A completion server on 127.0.0.1 that knows the chain's rules; there is no API key."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    running = CompletionServerForTests(oracle(CHAIN))
    yield running
    running.close()
