"""The documentation stays short, and the files that it names exist."""

import re
from pathlib import Path

import pytest

from tests.docs.snippets import FENCE, ROOT

GENERATED = ROOT / "docs" / "reference" / "cli.md"
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]
KNOW = {
    "architecture",
    "enough",
    "glossary",
    "index",
    "numbers",
    "policy",
    "recipes",
    "security",
    "tuning",
    "tutorial",
}
"""Pages that are read to know or to learn; all others outside of folders say how to do something."""

NAMED = re.compile(r"(?:promptpo|sandbox|baselines|benchmarks|tests|docs|examples)/[\w./*-]*")
IDS = re.compile(r"-v\d+$")


def words(page: Path) -> int:
    """Words of text and tables; commands, programs and what they print are looked at rather than read."""
    return sum(bool(re.search(r"\w", word)) for word in FENCE.sub("", page.read_text()).split())


def most(page: Path) -> int | None:
    """How many words a page may have; None where only the sum counts."""
    if page.parent == ROOT:
        return 700 if page.stem == "README" else 1000
    if page.stem == "security":
        return 1500
    folder = page.parent.name
    if folder == "findings" or page.stem == "enough":
        return 800
    return None if folder == "reference" or page.stem in KNOW else 600


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_is_short(page: Path) -> None:
    """One task at most 600 words, one question at most 800."""
    limit = most(page)
    assert limit is None or words(page) <= limit


def test_the_whole_is_short() -> None:
    """At most 20,000 words, without the reference that is generated."""
    pages = [page for page in PAGES if page.parent != ROOT and page != GENERATED]
    assert sum(map(words, pages)) <= 20_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_files_that_are_named_exist(page: Path) -> None:
    """In running text, in tables and in commands: whatever looks like a file of the repository is one."""
    text = page.read_text()
    named = {name.rstrip(".") for name in re.findall(rf"(?<![\w./-]){NAMED.pattern}", text)}
    missing = [name for name in named if not IDS.search(name) and not list(ROOT.glob(name.rstrip("/")))]
    assert not missing
    tests = {found.name for found in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"(?<![\w/])test_\w+\.py", text)) <= tests
    for module in re.findall(r"python -m ((?:benchmarks|baselines|sandbox)[\w.]*)", text):
        path = ROOT.joinpath(*module.split("."))
        assert path.is_dir() or path.with_suffix(".py").exists(), module
