"""The commands and programs in the documentation."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r'^(?:<!-- not run: (?P<why>[^\n]*?) -->\n)?^```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Snippet:
    """One fenced block: its language, the file whose content it is, and why it is not run, if so."""

    language: str
    code: str
    title: str | None
    why_not: str | None


def snippets(page: Path) -> list[Snippet]:
    """Return all fenced blocks of a page, in order."""
    return [
        Snippet(found["language"], found["code"], found["title"], found["why"])
        for found in FENCE.finditer(page.read_text(encoding="utf-8"))
    ]


def pages() -> list[Path]:
    """Return the pages of the documentation that contain commands."""
    all_pages = sorted((ROOT / "docs").rglob("*.md"))
    return [page for page in all_pages if any(snippet.language == "sh" for snippet in snippets(page))]
