"""Python source and differences as HTML."""

from __future__ import annotations

import difflib

from markupsafe import Markup, escape


def highlighted(source: str) -> Markup:
    """Python source with a span for each token that the style sheet colours."""
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

    html: str = highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    return Markup(html)  # noqa: S704 - the formatter escapes what it is given


def difference(before: str, after: str, names: tuple[str, str]) -> Markup:
    """A unified difference, one span a line; empty when the texts are equal."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="", n=2)
    kinds = {"+": "added", "-": "removed", "@": "place"}
    return Markup("").join(
        Markup('<span class="{}">{}</span>\n').format(
            "file" if line[:3] in ("+++", "---") else kinds.get(line[0], "same"), escape(line)
        )
        for line in lines
    )
