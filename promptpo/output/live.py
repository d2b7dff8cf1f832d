"""The report of a run in progress, served to this machine only: one page, read-only.

The page is the report that ``promptpo report`` writes, without an episode, so that viewing it executes nothing. It
asks the browser to reload it during the run.
"""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from promptpo.errors import RunError
from promptpo.files import reading
from promptpo.output.baseline_run import read_run
from promptpo.output.report.page import page
from promptpo.output.runs import is_run

NOTE = "The report so far; this page reloads every few seconds during the run."

WAITING = Markup(
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:">'
    '<title>{0} | promptpo</title><link rel="icon" href="data:,"></head>'
    "<body><h1>{0}</h1><p>{1}</p></body></html>\n"
)


def draw_page(run: Path) -> tuple[str, bool]:
    """Return the page of a run, which may still be an empty directory, and whether the run is in progress."""
    try:
        if not is_run(run):
            return WAITING.format(run.name, "The run has not written anything yet."), True
        with reading(run):
            found = read_run(run)
            return page(found, NOTE), not found.finished
    except (RunError, OSError) as error:  # it may be written at this moment
        return WAITING.format(run.name, error), True
