"""Writing a report: ``report.md``, ``report.html`` and the figures on their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report.sections import Figure, Link, ReportSection, ReportTable, Value
from promptpo.output.report import write_atomically

TEMPLATES = Path(__file__).with_name("templates")
MARKDOWN, PAGE, FIGURES = "report.md", "report.html", "figures"


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
            write_atomically(drawn / f"{figure.name}.svg", figure.svg)
    write_atomically(root / MARKDOWN, as_markdown(report))
    write_atomically(root / PAGE, as_html(report))


def as_html(report: Report) -> str:
    """One page without anything from outside: figures are inside."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("report.html.j2").render(
        title=report.title,
        lead=report.lead,
        command=report.command,
        redraw=report.redraw,
        sections=report.sections,
    )


def as_markdown(report: Report) -> str:
    """The same as text; figures are links to files."""
    blocks = [f"# {report.title}", *report.lead, "Written by:", f"```\n{report.command}\n```"]
    for section in report.sections:
        blocks.append(f"## {section.title}")
        blocks += section.text
        blocks += [_table(table) for table in section.tables]
        blocks += [_figure(figure, report.redraw) for figure in section.figures]
    return "\n\n".join(blocks) + "\n"


def _figure(figure: Figure, redraw: str) -> str:
    return f"![{figure.caption}]({FIGURES}/{figure.name}.svg)\n\n{figure.caption} `{redraw}`"


def _table(table: ReportTable) -> str:
    lines = [_line(table.head), _line(["---"] * len(table.head)), *(_line(row) for row in table.rows)]
    return "\n".join(lines)


def _line(values: Sequence[Value]) -> str:
    return "| " + " | ".join(_text(value) for value in values) + " |"


def _text(value: Value) -> str:
    text = f"[{value.text}]({value.target})" if isinstance(value, Link) else value
    return text.replace("|", "\\|").replace("\n", " ")
