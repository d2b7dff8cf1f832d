"""``replay:RUN_OR_FILE``: replay recorded answers."""

from __future__ import annotations

import io
import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.errors import FatalProviderError, UsageError
from promptpo.files import MAX_FILE_BYTES, check_json_bounds, read_regular
from promptpo.llm.base import ALL_PURPOSES, CallPurpose, Capabilities, Completion, Request, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

JOURNAL = "journal.jsonl"

LINES = (".jsonl", ".jsonl.xz")

_FORMS = "a run directory, or a .jsonl file of answers (or .jsonl.xz)"


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One recorded answer.

    Attributes:
        completion: The answer.
        key: Key of the call that it answered; None if not recorded.
        purpose: Purpose of the call; None if not recorded.
    """

    completion: Completion
    key: str | None = None
    purpose: CallPurpose | None = None


class ReplayLLM:
    """Answer requests from a recording.

    A call gets the answer recorded under its key. A call whose key was not recorded gets the first unused
    answer, in recorded order, with the same purpose or none. The same call always gets the same answer, and
    each answer goes to one call.

    Args:
        path: A run directory or its journal; or a ``.jsonl`` file, compressed or not, with ``text`` and optionally ``key``,
            ``purpose``, ``model`` and ``finish`` in each line, or the output of ``promptpo export --recording``.
        answered: Answers that earlier processes of the same run have used; they are not served again.

    Raises:
        UsageError: The path is none of these, or has no answers.
    """

    def __init__(self, path: Path | str, *, answered: Iterable[Completion] = ()) -> None:
        self._path = Path(path).expanduser().absolute()
        self._left = list(_read(self._path))
        if not self._left:
            raise UsageError(f"{self._path} contains no recorded answer; replay takes {_FORMS}.")
        self.name = f"replay:{self._path}"  # absolute, so that a run can be resumed from anywhere
        stated = {item.purpose for item in self._left}
        # An answer without a purpose serves required requests, not optional ones.
        unstated = ALL_PURPOSES - {"probe", "simulator", "spec"} if None in stated else frozenset()
        purposes = frozenset(purpose for purpose in stated if purpose) | unstated
        self.capabilities = Capabilities(purposes, stays_here=True)
        self._size = len(self._left)
        self._by_key = {item.key: item.completion for item in self._left if item.key is not None}
        for completion in answered:
            served = next((item for item in self._left if item.completion.text == completion.text), None)
            if served is not None:
                self._left.remove(served)

    async def complete(self, request: Request) -> Completion:
        """Answer one request from the recording.

        Raises:
            FatalProviderError: No suitable answer is left.
        """
        completion = self._by_key.get(request.key)
        if completion is not None:
            self._left = [item for item in self._left if item.key != request.key]
            return completion
        for index, item in enumerate(self._left):
            if item.purpose in {request.purpose, None}:
                del self._left[index]
                self._by_key[request.key] = item.completion
                return item.completion
        raise FatalProviderError(
            f"the recording {self._path} is used up: it has {self._size} answers, and none is left for "
            f"call {request.key} ({request.purpose}); ask for fewer rounds or candidates, or record more."
        )

    async def aclose(self) -> None:
        """Nothing to release."""


def _read(path: Path) -> Iterator[RecordedAnswer]:
    """Yield the answers of a recording in order."""
    file = path / JOURNAL if path.is_dir() else path
    if not file.name.endswith(LINES):
        raise UsageError(f"{path} is not a recording; replay takes {_FORMS}.")
    try:
        content = read_regular(file, links=file is path)
    except OSError as error:
        raise UsageError(
            f"cannot read the recording {file}: {error.strerror}; replay takes {_FORMS}."
        ) from error
    yield from _read_lines(file, content)


def _read_lines(path: Path, content: bytes) -> Iterator[RecordedAnswer]:
    """Yield the answers in a journal, without a torn last line, or in another file of answers."""
    # Only "\n" ends a line; an answer may contain Unicode's other line separators.
    lines = _decompress(path, content).removesuffix(b"\n").split(b"\n")
    for n, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            event = json.loads(line.decode("utf-8", "surrogatepass"))
            if event.get("kind", "completion") == "completion":
                yield _parse_answer(event["data"] if "kind" in event else event, event.get("key"))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            if n == len(lines) and path.name == JOURNAL:
                return
            raise UsageError(f"line {n} of {path} is not a recorded answer: it needs a text.") from error


def _decompress(path: Path, content: bytes) -> bytes:
    """Decompress a file of lines.

    Raises:
        UsageError: The file is damaged, too large or nested too deeply, or is not compressed as its name says.
    """
    raw = io.BytesIO(content)
    try:
        return check_json_bounds((lzma.open(raw) if path.suffix == ".xz" else raw).read(MAX_FILE_BYTES + 1))
    except (lzma.LZMAError, EOFError) as error:
        raise UsageError(f"{path} is damaged or not compressed as its name says; record it again.") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}.") from error


def _parse_answer(data: dict[str, Any], key: str | None) -> RecordedAnswer:
    usage = data.get("usage") or {}
    completion = Completion(
        text=str(data["text"]),
        model=data.get("model") or "replay",
        finish=data.get("finish") or "stop",
        usage=Usage(**usage),
        cost_usd=0.0,  # replay is free
        provider=str(data.get("provider") or ""),
    )
    purpose = data.get("purpose")
    if purpose is not None and purpose not in ALL_PURPOSES:
        raise ValueError(purpose)
    return RecordedAnswer(completion, key, purpose)
