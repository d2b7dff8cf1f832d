"""Commands about many runs: ``list`` and ``compare``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from promptpo.cli.arguments import AsJson, runs
from promptpo.cli.document import print_json
from promptpo.display.console import say, tell
from promptpo.errors import NoSuchRunError, UsageError
from promptpo_sandbox.text import clean_line

if TYPE_CHECKING:
    from promptpo.output.runs import RunLine

COMPARISON, PAGE = "compare.html", "runs.html"


def list_runs(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder to search, a few levels deep.")
    ] = Path(),
    html: Annotated[
        bool,
        typer.Option(
            "--html",
            help="Write DIR/runs.html, a page that can be sorted and filtered, with the learning curve of each run.",
        ),
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File that --html writes.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the runs in a folder, baselines included.

    Shows environment, model, held-out return and cost.
    """
    if output is not None and not html:
        raise UsageError("-o requires --html.")
    from promptpo.files import write_named
    from promptpo.output import comparing
    from promptpo.output.report.compare_page import runs_page
    from promptpo.output.runs import is_run
    from promptpo.run.origin import is_made_here, place_for

    lines = comparing.list_runs(folder)
    damaged = lines.damaged
    own = not is_run(folder) or is_made_here(folder)
    page = place_for(folder, PAGE, output, own=own) if html and lines else None
    if page is not None:
        write_named(page, runs_page(lines, page, compared=False))
    if as_json:
        written = {"output": str(page)} if page is not None else {}
        print_json({"runs": [line.facts for line in lines], "damaged": damaged, **written}, indent=2)
        return
    if not lines and not damaged:
        say(f"No runs in {folder}; start one with: promptpo optimize CartPole-v1")
    if page is not None:
        say(f"wrote {page}")
    else:
        print_runs(lines)
    for sentence in damaged:
        tell(sentence, error=True)


def print_runs(lines: Iterable[RunLine]) -> None:
    """Print runs as the table of `promptpo list`."""
    from promptpo.output.comparing import Runs

    print_table(Runs(lines).rows)


def compare(
    directories: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Two or more runs.", autocompletion=runs)
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Page to write; by default compare.html, or the next free number.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the held-out returns of runs.

    Shows intervals, and paired differences from the first run: all runs are tested on the same seeds, so most of the noise cancels.
    """
    from promptpo.output import comparing
    from promptpo.output.report.compare_page import table_rows

    compared = comparing.compare(*directories)
    output = output or _free(Path(COMPARISON))
    before = output.exists()
    compared.write_report(output)
    if as_json:
        print_json({"runs": compared.as_json(), "output": str(output)}, indent=2)
        return
    print_table(table_rows(compared.runs, compared.runs[0]))
    say(f"wrote {output}{', replacing the existing file' if before else ''}")


def _free(path: Path) -> Path:
    """Return the first unused numbered name, so that an earlier comparison is kept."""
    numbered = (path.with_stem(f"{path.stem}-{n}") if n > 1 else path for n in count(1))
    return next(found for found in numbered if not found.exists())


def compare_in(folder: Path, directories: Sequence[Path], out: Path | None) -> Path:
    """Write a page that compares the runs of a folder: to `out`, else into the folder if all runs were made here.

    Raises:
        PromptPOError: There are no runs, one cannot be read, or the page cannot be written.
    """
    from promptpo.output.comparing import RunComparison, Runs
    from promptpo.output.runs import read_line
    from promptpo.run.origin import is_made_here, place_for

    compared = RunComparison(Runs(map(read_line, directories)))
    if not compared.runs:
        raise NoSuchRunError(f"no run was started in {folder}; continue with: promptpo resume {folder}")
    path = place_for(folder, COMPARISON, out, own=all(map(is_made_here, directories)))
    return compared.write_report(path)


def print_table(rows: Sequence[Mapping[str, str]]) -> None:
    """Print rows as a table, or as one block per run if the terminal is too narrow."""
    from promptpo.output.comparing import table_text

    if not rows:
        return
    text, width = table_text(rows), shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or max(map(len, text.splitlines())) <= width:
        say(text)
        return
    for run, *cells in (row.values() for row in rows):
        known = (f"{name}: {cell}" for name, cell in zip([*rows[0]][1:], cells, strict=True) if cell)
        say("\n  ".join(map(clean_line, [run, *known])))
