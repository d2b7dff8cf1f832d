"""Page rendering: one set of templates, everything escaped, only our own scripts; source code as HTML."""

from __future__ import annotations

import base64
import difflib
import hashlib
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from promptpo.output.sentences import sentence, texts
from promptpo.prompts.feedback import OUTCOME_WORDS

if TYPE_CHECKING:
    import jinja2


@cache
def templates() -> jinja2.Environment:
    """Return the Jinja environment for pages: everything is escaped, undefined values raise."""
    import jinja2

    assets = jinja2.PackageLoader("promptpo.output.report", "assets")
    environment = texts().overlay(loader=assets, autoescape=True)
    environment.filters["highlighted"] = highlight
    environment.globals |= {"difference": difference, "outcome_words": OUTCOME_WORDS, "sentence": sentence}
    return environment


def render_page(template: str, script: str, **values: Any) -> str:
    """Render a whole page.

    Args:
        template: File name of the template.
        script: File name of its own script, which follows the one that all pages share.
        **values: Variables of the template.
    """
    assets = Path(__file__).parent / "assets"
    code = "".join((assets / name).read_text(encoding="utf-8") for name in ("common.js", script))
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    ours = Markup(code)  # noqa: S704 - our own
    return templates().get_template(template).render(script=ours, script_hash=digest, **values)


@lru_cache(maxsize=1024)  # a served page is drawn again and again
def highlight(text: str, language: str = "python") -> Markup:
    """Return a text with a span for each part that the style sheet colours."""
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]

    html: str = highlight(text, get_lexer_by_name(language, stripnl=False), HtmlFormatter(nowrap=True))
    return Markup(html)  # noqa: S704 - the formatter escapes what it is given


def difference(before: str, after: str) -> Markup:
    """Return a unified difference; empty if the texts are equal."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]
    return highlight("\n".join(lines), "diff") if lines else Markup()
