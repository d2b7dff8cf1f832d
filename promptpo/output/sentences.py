"""Sentences about runs and their results: the macros of ``templates/sentences.txt.j2``."""

from __future__ import annotations

import math
import re
import shlex
from functools import cache
from typing import TYPE_CHECKING, Any

from promptpo.envs.task import label_of, relative_name
from promptpo.output.report.scores import kind_of_episodes, noise_of
from promptpo.prompts.feedback import number, with_noise
from promptpo.prompts.shortening import count_of
from promptpo.run.preflight import SOURCES

if TYPE_CHECKING:
    import jinja2

TEACHER = "teacher"
"""The name of a trained agent among the references."""

REFERENCES = {"random": "random actions", "zero": "the zero action", TEACHER: "the teacher"}
"""Reference policies in words."""


@cache
def texts() -> jinja2.Environment:
    """Return the Jinja environment for text, Python included: nothing is escaped, undefined values raise."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("promptpo.output", "templates"),
        undefined=_raising(jinja2.StrictUndefined),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - no HTML
    )
    environment.filters |= {"pyrepr": repr, "quoted": shlex.quote, "going_on": _going_on, "counted": count_of}
    environment.filters |= {"with_noise": with_noise, "label": label_of, "relative": relative_name}
    environment.filters["oneline"] = lambda text: " ".join(text.split())
    environment.filters["number"] = lambda value: "-" if value is None or math.isnan(value) else number(value)
    environment.globals |= {
        "REFERENCES": REFERENCES,
        "NO_LIMIT": SOURCES["none"],
        "kind_of_episodes": kind_of_episodes,
        "noise_of": noise_of,
    }
    return environment


@cache
def _macros() -> Any:
    """Load the macros, in which a missing part of a result is empty."""
    import jinja2

    lenient = texts().overlay(undefined=_raising(jinja2.ChainableUndefined), trim_blocks=False)
    return lenient.get_template("sentences.txt.j2").module


def _raising(kind: Any) -> Any:
    """Return a kind of undefined values that raise LookupError, so that damaged results are reported like other files."""

    class Missing(kind):  # type: ignore[misc]
        def __init__(self, *known: Any, **named: Any) -> None:
            super().__init__(*known, **named | {"exc": LookupError})

    return Missing


def sentence(name: str, *given: Any) -> str:
    """Render one of the macros as one line; empty if it has nothing to say."""
    return re.sub(r"\s*\n\s*", " ", getattr(_macros(), name)(*given)).strip()


def _going_on(sentence: Any) -> str:
    """Return a sentence to use inside another one: in lower case unless it begins with an abbreviation, and no full stop."""
    text = str(sentence or "").strip().rstrip(".")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
