"""Tables as text: in Markdown, and in aligned columns for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table."""
    rows = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def align_columns(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Format the same table as aligned columns of text."""
    rows = [header, *lines]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
