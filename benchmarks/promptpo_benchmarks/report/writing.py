"""Writing a report: ``report.md``, ``report.html`` and the figures on their own; and what of it is published."""

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
"""Of all pages, so that they look alike in light and dark."""
MARKDOWN, PAGE, FIGURES, RECORDINGS = "report.md", "report.html", "figures", "recordings"


@dataclass(frozen=True, slots=True)
class Report:
    """A report before it is written.

    Attributes:
        title: One line.
        lead: What was run, how much of it is finished, when.
        command: The command line that made it.
        redraw: The command line that draws its figures again from the results on disk.
        sections: What it says.
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
    """Write what is worth keeping in a repository: the page, its figures as pictures, one table of all rows, recordings.

    Args:
        folder: Where; it need not be there.
        report: What it says. What leads to run directories is left out, since those stay behind.
        rows: The table, as CSV.
        recordings: What language models were asked and answered, by file name.
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
    """One page without anything from outside: figures are inside."""
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
    """The same as text; figures are links to files.

    Args:
        report: What it says.
        published: Whether the page leaves the folder of the runs: figures are pictures beside it, and what is only a
            list of links to runs is left out.
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
