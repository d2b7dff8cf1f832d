"""``promptpo inbox``: list requests that wait for an answer, and answer them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from promptpo.cli.arguments import AsJson
from promptpo.cli.document import answer as show
from promptpo.files import read_text
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo.llm.inbox import WaitingRequest

POLL_SECONDS = 1.0
"""Interval of checks; a round's requests arrive together, so they are listed when a check finds no further one."""

SILENCE_SECONDS = 10.0
"""Time without a live run after which it counts as ended; a new run takes some seconds to start."""


def inbox(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Inbox directory, as given to --model inbox:DIR.")
    ],
    answer: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Answer this request with the text on standard input."),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, help="Wait this long for a request, or for the end of the run."
        ),
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """List or answer the requests of a run with --model inbox:DIR.

    Includes inboxes in subdirectories. Each request is a text file for any chat or agent; put the complete answer into the file named beside it, or
    pass it with --answer. The run continues as soon as it finds the answer. Exit code 0, whether or not there are open requests.
    """
    from promptpo.llm.inbox import has_live_run, put_answer, waiting

    if answer is not None:
        path = put_answer(directory, answer, sys.stdin.buffer.read().decode(errors="replace"))
        show({"answer": str(path)}, f"wrote {path}", as_json=as_json)
        return
    _wait_for_requests(directory, wait)
    found, alive = waiting(directory), bool(has_live_run(directory))
    facts = {"inbox": str(directory), "run_alive": alive, "waiting": [*map(_facts, found)]}
    show(facts, _describe_waiting(directory, found, alive=alive), as_json=as_json)


def _wait_for_requests(directory: Path, seconds: float) -> None:
    """Wait for a round's requests or the end of the run, at most for some seconds."""
    from promptpo.llm.inbox import has_live_run, waiting

    end, silent, found = time.monotonic() + seconds, time.monotonic(), 0
    while (now := time.monotonic()) < end:
        before, found = found, len(waiting(directory)) if directory.exists() else 0
        if found and found == before:
            return
        alive = has_live_run(directory)
        if found or alive:
            silent = now
        elif alive is False and now - silent > SILENCE_SECONDS:
            return  # the run has ended
        time.sleep(POLL_SECONDS)


def _facts(question: WaitingRequest) -> dict[str, Any]:
    return {
        **{name: getattr(question, name) for name in ("number", "call", "purpose", "run")},
        "seconds": round(max(0.0, time.time() - question.asked), 1),
        "characters": len(read_text(question.path, links=False)),
        "question": str(question.path),
        "answer": str(question.answer),
    }


def _describe_waiting(directory: Path, found: list[WaitingRequest], *, alive: bool) -> str:
    """Describe the open requests and how to answer them."""
    if not found:
        resume_command = "; a run is in progress and may write more." if alive else "; no run is active."
        return f"There are no open requests in {directory}{resume_command}"
    lines = [f"Open requests in {directory}:", ""]
    for facts in map(_facts, found):
        what, minutes = clean_name(f"{facts['call']}  {facts['purpose']}"), facts["seconds"] / 60
        lines.append(f"  {facts['question']}  {what}  {facts['characters']:,} characters  {minutes:.0f} min")
    first = found[0]
    lines += [
        "",
        f"Paste the full text of a file into a chat or an agent, and save the full answer as {first.answer.name}",
        f"beside it, or pipe it to: promptpo inbox {first.directory} --answer {first.number} < ANSWER.md",
    ]
    if not alive:
        runs = " ".join(dict.fromkeys(clean_name(item.run) for item in found if item.run)) or "RUN"
        lines.append(f"No run is active; to use the answers: promptpo resume {runs}")
    return "\n".join(lines)
