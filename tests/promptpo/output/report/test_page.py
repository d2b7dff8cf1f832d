"""The report of a run: what is in it, and that nothing in it runs or leaves the page."""

import base64
import hashlib
import html
import json
import re
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


class Checked(HTMLParser):
    """Collects ids, links and scripts, and insists that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.ids, self.links, self.scripts, self.sources = [], [], [], [], []
        self.handlers = []

    def handle_starttag(self, tag: Any, attrs: Any) -> None:
        """Note an element."""
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
        """Close it."""
        assert self.open.pop() == tag


def parsed(path: Any) -> Any:
    """The page, checked."""
    page = Checked()
    page.feed(path.read_text())
    page.close()
    assert page.open == []
    return page


@pytest.fixture(scope="module")
def page(told_run: Any) -> Any:
    """The report that the run wrote by itself."""
    return told_run.directory / "report.html"


def test_every_run_has_a_report(page: Any) -> None:
    """It is written at the end, well formed, with unique ids and links that lead somewhere."""
    found = parsed(page)
    assert len(found.ids) == len(set(found.ids))
    inner = {link[1:] for link in found.links if link.startswith("#")}
    assert inner <= set(found.ids)
    assert {"r1c1", "r2c2", "r2c1t"} <= inner


def test_the_page_needs_no_network(page: Any) -> None:
    """No address outside the page is loaded or linked."""
    found = parsed(page)
    assert all(link.startswith(("#", "data:")) for link in found.links)
    assert all(source.startswith("data:") for source in found.sources)
    assert "@import" not in page.read_text()
    assert "url(" not in page.read_text()


def test_what_a_model_writes_stays_text(page: Any) -> None:
    """Markup in answers and sources is escaped, and the security policy allows our own script only."""
    text = page.read_text()
    found = parsed(page)
    assert "<script>window.hacked" not in text
    assert html.escape("<script>window.hacked = 1</script>") in text
    assert found.scripts == ["code"]
    assert found.handlers == []
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text


def test_it_tells_the_whole_story(page: Any, told_run: Any) -> None:
    """Source, difference, failures with their repair, prompts and answers, versions and command."""
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
        f"{told_run.mean_return:.4g}",
        "gymnasium",
        "demo-1",
        "Selection against test",
    ):
        assert words in text, words


def test_programs_that_were_repaired_are_listed(told_run: Any) -> None:
    """The sandbox's refusals include those of programs that a repair replaced."""
    state = read_view(told_run.directory).state
    stopped = {(whose, mended, one.outcome) for whose, mended, one in state.stopped}
    assert ("r1c1", True, "rejected") in stopped
    assert ("r1c2", False, "invalid_action") in stopped or ("r1c2", False, "crashed") in stopped


def test_spending_grows_and_ends_at_the_result(told_run: Any) -> None:
    """The curve's last point is what the result says was spent, but for the test."""
    run = read_view(told_run.directory)
    steps = sorted(candidate.spent.steps for candidate in run.candidates)
    assert steps[-1] <= sum(v for k, v in told_run.data["steps"].items() if k not in ("test", "total"))
    spent = [one.steps for one, _ in run.state.best_so_far]
    assert spent == sorted(spent)
    assert run.state.best_so_far[-1][1].mean_return == run.best.evidence.mean_return
    assert run.best.id == run.state.best.id == told_run.data["best"]["candidate"]


@pytest.mark.slow
def test_the_episode_is_the_typical_test_episode(told_run: Any) -> None:
    """The film and the plot show the run's own test episode of median return, as it was."""
    path = write_report(told_run.directory)
    text = path.read_text()
    found = parsed(path)
    assert "The test episode with the median return" in text
    assert "frames" in found.ids
    assert 'class="series obs"' in text
    assert 'class="series action"' in text
    film = json.loads(re.search(r'id="frames">(.*?)</script>', text)[1])
    assert film["steps"] == film["frames"][-1][0]
    assert text.count('class="cursor"') == text.count('class="series ') > 2  # the film's place in every row


@pytest.mark.slow
def test_a_strangers_page_stays_as_it_is(
    told_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page about a run that was not made here comes elsewhere, and has nothing of the one that is there."""
    import shutil

    run = tmp_path / "run"
    shutil.copytree(told_run.directory, run)
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
    assert '<pre class="foreign"' in theirs  # its recorded commands have no button that copies them
    assert "was not made on this machine" in theirs
    assert (run / "report.html").read_text() == before


def test_an_episode_that_takes_long_is_left_out_of_the_automatic_report(
    told_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wall time of the final test says how long an episode takes; the page says how to add it."""
    from promptpo.output.report import page as module

    run = read_view(told_run.directory)
    (recorded,) = run.state.payloads["test"].values()
    test = recorded["evaluation"]
    assert 0.0 < test["seconds"] < 5.0 * len(test["episodes"])
    monkeypatch.setitem(test, "seconds", 60.0 * len(test["episodes"]))
    monkeypatch.setattr(module, "read_run", lambda _: run)
    text = write_report(told_run.directory, seconds=4.0).read_text()
    assert "An episode takes about 60 seconds here" in text
    assert "add one with: promptpo report" in text
    assert '<script type="application/json" id="frames"' not in text


@pytest.mark.slow
def test_an_unfinished_run_has_a_report_too(told_run: Any, tmp_path: Path) -> None:
    """Any prefix of a journal that begins with a session can be reported."""
    run = tmp_path / "cut"
    run.mkdir()
    (run / "config.toml").write_text((told_run.directory / "config.toml").read_text())
    lines = (told_run.directory / JOURNAL).read_bytes().splitlines(keepends=True)
    for end in range(2, len(lines) - 1, 5):
        (run / JOURNAL).write_bytes(b"".join(lines[:end]))
        path = tmp_path / "cut.html"
        parsed(write_report(run, out=path, episode=False))
        assert "Not finished" in path.read_text()


def test_no_run_is_one_sentence(tmp_path: Path) -> None:
    """A directory that is no run is named."""
    with pytest.raises(RunError, match="not a run directory"):
        write_report(tmp_path)


@pytest.mark.slow
def test_a_report_that_cannot_be_written_does_not_fail_the_run(
    told_run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The run has its result; the user is told in one line."""
    import promptpo
    from promptpo.llm.scripted import ScriptedLLM
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


def test_references_stand_beside_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What acting at random gives, where the run measured it, is in the page and in `show`, with its error."""
    import shutil

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
    said = capsys.readouterr().out
    assert "Reference, random actions: return 22.0 ± 2.0 (2 episodes)" in said
    assert "reference 40" in said


@pytest.mark.parametrize("name", ["search", "model"])
def test_a_recorded_run_can_be_reported(name: str, tmp_path: Path) -> None:
    """Its page is well formed and says what was repaired, and which candidate was best."""
    import shutil

    from tests.promptpo.cli.test_command_line import ROOT

    shutil.copytree(ROOT / "tests" / "promptpo" / "core" / "recorded" / name, tmp_path / "run")
    path = write_report(tmp_path / "run", out=tmp_path / "page.html", episode=False)
    parsed(path)
    text = html.unescape(re.sub(r"<[^>]+>", "", path.read_text()))
    assert f"Best policy: {'r1c1t' if name == 'search' else 'r1c1'}" in text
    assert (">repaired<" in path.read_text()) == (name == "model")


def test_a_single_episode_has_no_error_and_one_of_a_kind_no_plural(tmp_path: Path) -> None:
    """A run of one call, one candidate and one episode of each kind shows no error that is not a number."""
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
