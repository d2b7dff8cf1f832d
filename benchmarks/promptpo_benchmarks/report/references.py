"""Published reference points, as data with their sources; never mixed with what was measured here."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from promptpo.errors import UsageError

FOLDER = Path(__file__).with_name("references")


@dataclass(frozen=True, slots=True)
class Reference:
    """One publication.

    Attributes:
        title: Title of the publication.
        source: Where the numbers were published.
        protocol: How they were obtained, as far as the source says.
        caution: Why they must not be compared too closely with ours.
        claims: Its claims in words.
        scores: Scores by task label and method.
    """

    title: str
    source: str
    protocol: str
    caution: str
    claims: tuple[str, ...] = ()
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@lru_cache
def load_references(folder: Path = FOLDER) -> tuple[Reference, ...]:
    """Load all references, by file name.

    Raises:
        UsageError: A file is damaged.
    """
    from pydantic import TypeAdapter, ValidationError

    found = []
    for path in sorted(folder.glob("*.toml")):
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
            found.append(TypeAdapter(Reference).validate_python(content))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise UsageError(f"{path} is not a table of references: {str(error).splitlines()[0]}.") from error
    return tuple(found)


def references_for(task: str) -> list[tuple[Reference, Mapping[str, float]]]:
    """Return the references that have a score for a task, with their scores."""
    return [(r, r.scores[task]) for r in load_references() if task in r.scores]
