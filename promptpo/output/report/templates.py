"""What pages are rendered with: one set of templates, everything escaped, and a policy that runs our own script only."""

from __future__ import annotations

import base64
import hashlib
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from promptpo.telling.feedback import number

if TYPE_CHECKING:
    import jinja2


@cache
def templates() -> jinja2.Environment:
    """The environment that pages are rendered in: everything is escaped, nothing may be undefined."""
    import jinja2

    class Missing(jinja2.StrictUndefined):
        """What a damaged result lacks is told as for any other file."""

        def __init__(self, *known: Any, **named: Any) -> None:
            super().__init__(*known, **{**named, "exc": LookupError})

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("promptpo.output.report", "assets"),
        undefined=Missing,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: "-" if value is None else number(value)
    environment.filters["quoted"] = shlex.quote
    return environment


@cache
def _asset(name: str) -> Markup:
    """The text of a file of ours beside the templates."""
    return Markup((Path(__file__).parent / "assets" / name).read_text(encoding="utf-8"))  # noqa: S704 - our own


def rendered(template: str, script: str, **values: Any) -> str:
    """A whole page.

    Args:
        template: Its file.
        script: The file of its script.
        **values: What the template shows.
    """
    code = _asset(script)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return (
        templates()
        .get_template(template)
        .render(style=_asset("style.css"), script=code, script_hash=digest, **values)
    )
