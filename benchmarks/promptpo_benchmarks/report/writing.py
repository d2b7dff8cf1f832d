"""Writing a report: ``report.md``, ``report.html`` and separate figures; and publishing parts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

import promptpo.output.report
from promptpo.output.report import write_atomically
from promptpo_benchmarks.report.sections import Link, ReportSection, ReportTable, Value
from promptpo_benchmarks.statistics.rows import CSV

TEMPLATES = Path(__file__).with_name("templates")
STYLE = Path(promptpo.output.report.__file__).parent / "assets" / "style.css"
"""Style sheet of all pages, so that they look alike in light and dark mode."""
MARKDOWN, PAGE, FIGURES, RECORDINGS = "report.md", "report.html", "figures", "recordings"


@dataclass(frozen=True, slots=True)
class Report:
    """A report before it is written.

    Attributes:
        title: Title, in one line.
        lead: What was run, how much of it is finished, when.
        command: The command line that produced it.
        redraw: The command line that redraws its figures from the results on disk.
        sections: Its sections.
    """

    title: str
    lead: Sequence[str]
    command: str
    redraw: str
    sections: Sequence[ReportSection]


def write_report(root: Path, report: Report) -> None:
    """Write all forms of a report into the benchmark's folder."""
    drawn = root / FIGURES
    drawn.mkdir(exist_ok=True)
    for section in report.sections:
        for figure in section.figures:
            write_atomically(drawn / f"{figure.name}.svg", figure.drawing.svg)
    write_atomically(root / MARKDOWN, as_markdown(report))
    write_atomically(root / PAGE, as_html(report))


def publish(folder: Path, report: Report, rows: str, recordings: Mapping[str, bytes]) -> None:
    """Write what is worth keeping in a repository: the page, its figures as images, one table of all rows, recordings.

    Args:
        folder: The folder, created if necessary.
        report: The report; links to run directories are left out, since those are not published.
        rows: The table, as CSV.
        recordings: Requests to language models and their answers, by file name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for figure in (figure for section in report.sections for figure in section.figures):
        (folder / f"{figure.name}.png").write_bytes(figure.drawing.png)
    write_atomically(folder / MARKDOWN, as_markdown(report, published=True))
    write_atomically(folder / CSV, rows)
    for name, content in recordings.items():
        (folder / RECORDINGS / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / RECORDINGS / name, content)


def as_html(report: Report) -> str:
    """Return one self-contained page, with its figures."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("report.html.j2").render(
        title=report.title,
        style=Markup(STYLE.read_text(encoding="utf-8")),  # noqa: S704 - our own
        lead=report.lead,
        command=report.command,
        redraw=report.redraw,
        sections=report.sections,
    )


def as_markdown(report: Report, *, published: bool = False) -> str:
    """Return the same as text; figures are links to files.

    Args:
        report: The report.
        published: Whether the page leaves the folder of the runs: figures are then images beside it, and lists of
            links to runs are left out.
    """
    blocks = [f"# {report.title}", *report.lead, "Written by:", f"```\n{report.command}\n```"]
    for section in report.sections:
        tables = [table for table in section.tables if not (published and _leads_to_runs(table))]
        if section.tables and not tables:
            continue
        blocks.append(f"## {section.title}")
        blocks += section.text
        blocks += [_table(table) for table in tables]
        for figure in section.figures:
            where = f"{figure.name}.png" if published else f"{FIGURES}/{figure.name}.svg"
            blocks.append(f"![{figure.caption}]({where})")
            blocks.append(figure.caption if published else f"{figure.caption} `{report.redraw}`")
    return "\n\n".join(blocks) + "\n"


def _leads_to_runs(table: ReportTable) -> bool:
    return any(isinstance(value, Link) for row in table.rows for value in row)


def _table(table: ReportTable) -> str:
    lines = [_line(table.head), _line(["---"] * len(table.head)), *(_line(row) for row in table.rows)]
    return "\n".join(lines)


def _line(values: Sequence[Value]) -> str:
    return "| " + " | ".join(_text(value) for value in values) + " |"


def _text(value: Value) -> str:
    text = f"[{value.text}]({value.target})" if isinstance(value, Link) else value
    return text.replace("|", "\\|").replace("\n", " ")
