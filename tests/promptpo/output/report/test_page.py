"""The content of a run's report, in which nothing runs and from which nothing is loaded."""

import base64
import hashlib
import html
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.core.journal import JOURNAL
from promptpo.errors import RunError
from promptpo.llm.base import Completion
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.report.page import write_report
from promptpo.output.run_view import read_view
from tests.promptpo.policies import WEAK

VOID = {"wbr", "meta", "link", "img", "input", "br"}


class PageParser(HTMLParser):
    """Collects ids, links and scripts; checks that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.ids, self.links, self.scripts, self.sources = [], [], [], [], []
        self.handlers = []

    def handle_starttag(self, tag: Any, attrs: Any) -> None:
        """Record an element."""
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []
        self.sources += [attrs["src"]] if "src" in attrs else []
        self.handlers += [name for name in attrs if name.startswith("on")]
        if tag == "script":
            self.scripts.append(attrs.get("type", "code"))

    def handle_endtag(self, tag: Any) -> None:
        """Check that the innermost element is closed."""
        assert self.open.pop() == tag


def parse_page(path: Any) -> Any:
    """Return the parsed page, all of whose elements are closed."""
    page = PageParser()
    page.feed(path.read_text())
    page.close()
    assert page.open == []
    return page


@pytest.fixture(scope="module")
def page(report_run: Any) -> Any:
    """The report that the run wrote by itself."""
    return report_run.directory / "report.html"


def test_report_is_well_formed(page: Any) -> None:
    """Ids are unique and internal links have targets."""
    found = parse_page(page)
    assert len(found.ids) == len(set(found.ids))
    inner = {link[1:] for link in found.links if link.startswith("#")}
    assert inner <= set(found.ids)
    assert {"r1c1", "r2c2", "r2c1t"} <= inner


def test_report_needs_no_network(page: Any) -> None:
    found = parse_page(page)
    assert all(link.startswith(("#", "data:")) for link in found.links)
    assert all(source.startswith("data:") for source in found.sources)
    assert "@import" not in page.read_text()
    assert "url(" not in page.read_text()


def test_markup_of_models_is_escaped(page: Any) -> None:
    """The content security policy allows the report's own script only."""
    text = page.read_text()
    found = parse_page(page)
    assert "<script>window.hacked" not in text
    assert html.escape("<script>window.hacked = 1</script>") in text
    assert found.scripts == ["code"]
    assert found.handlers == []
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text


def test_report_has_all_sections(page: Any, report_run: Any) -> None:
    text = html.unescape(re.sub(r"<[^>]+>", "", page.read_text()))
    for words in (
        "Best policy: r2c2",
        "I predict where the pole falls.",
        "What changed since its parent",
        "rejected before it ran",
        "returned an invalid action",
        "the same program as r1c3",
        "You write control policies",
        "You write short Python programs",
        "def act(self, obs)\n        return 1",
        f"{report_run.mean_return:.4g}",
        "gymnasium",
        "demo-1",
        "Selection against test",
    ):
        assert words in text, words


def test_repaired_programs_are_listed_as_stopped(report_run: Any) -> None:
    """A repair may have replaced the program since."""
    state = read_view(report_run.directory).state
    stopped = {(id_, repaired, stop.outcome) for id_, repaired, stop in state.stopped}
    assert ("r1c1", True, "rejected") in stopped
    assert ("r1c2", False, "invalid_action") in stopped or ("r1c2", False, "crashed") in stopped


def test_steps_of_the_curve_grow_up_to_the_result(report_run: Any) -> None:
    """Test steps are excluded."""
    run = read_view(report_run.directory)
    steps = sorted(candidate.spent.steps for candidate in run.candidates)
    assert steps[-1] <= sum(v for k, v in report_run.data["steps"].items() if k not in ("test", "total"))
    spent = [spent.steps for spent, _ in run.state.best_so_far]
    assert spent == sorted(spent)
    assert run.state.best_so_far[-1][1].mean_return == run.best.evidence.mean_return
    assert run.best.id == run.state.best.id == report_run.data["best"]["candidate"]


@pytest.mark.slow
def test_film_shows_the_median_test_episode(report_run: Any) -> None:
    path = write_report(report_run.directory)
    text = path.read_text()
    found = parse_page(path)
    assert "The test episode with the median return" in text
    assert "frames" in found.ids
    assert 'class="series obs"' in text
    assert 'class="series action"' in text
    film = json.loads(re.search(r'id="frames">(.*?)</script>', text)[1])
    assert film["steps"] == film["frames"][-1][0]
    assert text.count('class="cursor"') == text.count('class="series ') > 2  # a cursor in every plot


@pytest.mark.slow
def test_foreign_report_is_not_overwritten(
    report_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new page is written elsewhere and takes nothing from the existing one."""
    run = tmp_path / "run"
    shutil.copytree(report_run.directory, run)
    film = '<script type="application/json" id="frames">'
    rich = write_report(run).read_text()
    assert film in rich
    assert 'class="foreign"' not in rich
    (run / "config.toml").write_text((run / "config.toml").read_text() + "\n# from elsewhere\n")
    (run / "report.html").write_text(
        rich.replace("<h2>Episode</h2>", '<meta http-equiv="refresh" content="0; url=//x">')
    )
    before = (run / "report.html").read_text()
    monkeypatch.chdir(tmp_path)
    page = write_report(run)
    assert page.resolve() == tmp_path / "report.html"
    theirs = page.read_text()
    assert film not in theirs
    assert "refresh" not in theirs
    assert '<pre class="foreign"' in theirs  # without a button to copy its commands
    assert "was not made on this machine" in theirs
    assert (run / "report.html").read_text() == before


def test_slow_episode_is_left_out_of_the_automatic_report(
    report_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The duration is known from the final test; the page says how to add the film."""
    from promptpo.output.report import page as module

    run = read_view(report_run.directory)
    (recorded,) = run.state.payloads["test"].values()
    test = recorded["evaluation"]
    assert 0.0 < test["seconds"] < 5.0 * len(test["episodes"])
    monkeypatch.setitem(test, "seconds", 60.0 * len(test["episodes"]))
    monkeypatch.setattr(module, "read_run", lambda _: run)
    text = write_report(report_run.directory, seconds=4.0).read_text()
    assert "An episode takes about 60 seconds here" in text
    assert "add one with: promptpo report" in text
    assert '<script type="application/json" id="frames"' not in text


@pytest.mark.slow
def test_unfinished_run_has_a_report(report_run: Any, tmp_path: Path) -> None:
    """Any prefix of the journal suffices."""
    run = tmp_path / "cut"
    run.mkdir()
    (run / "config.toml").write_text((report_run.directory / "config.toml").read_text())
    lines = (report_run.directory / JOURNAL).read_bytes().splitlines(keepends=True)
    for end in range(2, len(lines) - 1, 5):
        (run / JOURNAL).write_bytes(b"".join(lines[:end]))
        path = tmp_path / "cut.html"
        parse_page(write_report(run, out=path, episode=False))
        assert "Not finished" in path.read_text()


def test_directory_without_a_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run directory"):
        write_report(tmp_path)


@pytest.mark.slow
def test_failing_report_does_not_fail_the_run(
    report_run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The user gets a warning."""
    from promptpo.output.report import page as module
    from tests.promptpo.policies import GOOD

    warnings = []

    def broken(*_: Any) -> None:
        raise ValueError("no ink")

    class Listening(promptpo.Observer):
        def warn(self, message: Any) -> None:
            warnings.append(message)

    monkeypatch.setattr(module, "page", broken)
    run = promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(lambda _: GOOD),
        out=tmp_path / "run",
        rounds=1,
        candidates=1,
        episodes=2,
        validation_episodes=2,
        test_episodes=2,
        observer=Listening(),
    )
    assert run.mean_return > 300
    assert "no ink" in warnings[-1]


def test_references_are_shown_with_their_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report and `show` agree."""
    from promptpo.cli.app import run
    from promptpo.core.journal import Journal, to_json
    from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
    from tests.promptpo.cli.test_command_line import ROOT

    shutil.copytree(ROOT / "tests" / "promptpo" / "core" / "recorded" / "model", tmp_path / "run")
    episodes = tuple(EpisodeRecord(10**7 + n, value, 20) for n, value in enumerate((20.0, 24.0)))
    with Journal(tmp_path / "run") as journal:
        spent = {"reference": 40}
        journal.add(
            "reference", "random", {"evaluation": to_json(Evaluation("ok", episodes, 40)), "spent": spent}
        )
    path = write_report(tmp_path / "run", out=tmp_path / "page.html", episode=False)
    text = html.unescape(re.sub(r"<[^>]+>", "", path.read_text()))
    assert "Random actions22.0 ± 2.0, 2 episodes" in text
    assert "40 reference" in text
    assert run(["show", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr().out
    assert "Reference, random actions: return 22.0 ± 2.0 (2 episodes)" in shown
    assert "reference 40" in shown


@pytest.mark.parametrize("name", ["search", "model"])
def test_recorded_run_can_be_reported(name: str, tmp_path: Path) -> None:
    """Journals of earlier versions stay readable."""
    from tests.promptpo.cli.test_command_line import ROOT

    shutil.copytree(ROOT / "tests" / "promptpo" / "core" / "recorded" / name, tmp_path / "run")
    path = write_report(tmp_path / "run", out=tmp_path / "page.html", episode=False)
    parse_page(path)
    text = html.unescape(re.sub(r"<[^>]+>", "", path.read_text()))
    assert f"Best policy: {'r1c1t' if name == 'search' else 'r1c1'}" in text
    assert (">repaired<" in path.read_text()) == (name == "model")


def test_single_episode_has_no_error_and_no_plural(tmp_path: Path) -> None:
    """The run has one call, one candidate and one episode of each kind."""
    run = promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(lambda _: Completion(WEAK, "demo-1")),
        out=tmp_path / "run",
        rounds=1,
        candidates=1,
        episodes=1,
        validation_episodes=1,
        test_episodes=1,
        max_steps=3000,
        tune="none",
    )
    shown = re.sub(
        r"(?s)<(script|style|pre)\b.*?</\1>|<[^>]*>", " ", (run.directory / "report.html").read_text()
    )
    assert not re.search(r"NaN|\bnan\b|± *-", shown)
    assert re.findall(r"\b1 (?:test )?(?:episode|call|round)s\b", shown) == []
    assert re.search(r"\b1 (?:test )?episode\b", shown)
