"""Files named in the documentation exist."""

import re
from pathlib import Path

import pytest

from tests.docs.snippets import ROOT

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]

NAMED = re.compile(r"(?:promptpo|sandbox|baselines|benchmarks|tests|docs|examples)/[\w./*-]*")
IDS = re.compile(r"-v\d+$")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_named_files_exist(page: Path) -> None:
    """Names are taken from text, tables and commands."""
    text = page.read_text()
    named = {name.rstrip(".") for name in re.findall(rf"(?<![\w./-]){NAMED.pattern}", text)}
    missing = [name for name in named if not IDS.search(name) and not list(ROOT.glob(name.rstrip("/")))]
    assert not missing
    tests = {found.name for found in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"(?<![\w/])test_\w+\.py", text)) <= tests
    for module in re.findall(r"python -m ((?:benchmarks|baselines|sandbox)[\w.]*)", text):
        path = ROOT.joinpath(*module.split("."))
        assert path.is_dir() or path.with_suffix(".py").exists(), module
