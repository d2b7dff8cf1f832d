"""Many runs: found, listed and compared, baselines among them."""

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from promptpo.core.journal import Journal
from promptpo.output.report.compare_page import table_rows
from promptpo.output.runs import find_runs, read_line
from promptpo.run.config_file import load_config
from promptpo.run.origin import save_own
from tests.promptpo.cli.test_command_line import ROOT
from tests.promptpo.output.report.test_page import parsed

RECORDED = ROOT / "tests" / "promptpo" / "core" / "recorded"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two runs, an unfinished one, a baseline and a damaged folder, at different depths."""
    shutil.copytree(RECORDED / "search", tmp_path / "runs" / "search")
    shutil.copytree(RECORDED / "model", tmp_path / "runs" / "deep" / "model")
    shutil.copytree(RECORDED / "search", tmp_path / "runs" / "going")
    (tmp_path / "runs" / "going" / "result.json").unlink()
    result = json.loads((RECORDED / "search" / "result.json").read_text())
    baseline = {
        key: result[key]
        for key in ("format", "env_id", "env_kwargs", "seed", "steps", "llm", "test", "wall_seconds")
    }
    returns = [value - 10 for value in result["test"]["returns"]]
    baseline |= {
        "method": "ppo",
        "curve": [{"steps": 100, "mean_return": 20.0}, {"steps": 200, "mean_return": 9.0}],
    }
    baseline["test"] = {**result["test"], "returns": returns, "mean_return": sum(returns) / len(returns)}
    (tmp_path / "runs" / "ppo").mkdir()
    (tmp_path / "runs" / "ppo" / "result.json").write_text(json.dumps(baseline))
    (tmp_path / "runs" / "damaged").mkdir()
    (tmp_path / "runs" / "damaged" / "result.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def test_runs_are_found_some_levels_deep(runs: Any) -> None:
    """Every run once, in the order of names; what is inside of a run is no run."""
    assert [path.name for path in find_runs(runs)] == ["damaged", "model", "going", "ppo", "search"]
    assert find_runs(runs / "search") == [runs / "search"]


def test_list_tells_each_run_in_a_line(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Finished, unfinished and a baseline are told; the damaged one is named and does not end the list."""
    assert run(["list", "runs"]) == 0
    said = capsys.readouterr()
    rows = said.out.splitlines()
    assert len(rows) == 5
    assert "not finished" in next(row for row in rows if "going" in row)
    assert "360.8" in next(row for row in rows if row.startswith("runs/search"))
    assert "ppo" in next(row for row in rows if "runs/ppo" in row)
    assert "damaged" in said.err
    assert run(["list", "runs", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert {one["env_id"] for one in value["runs"]} == {"CartPole-v1"}
    assert len(value["damaged"]) == 1


def test_what_a_run_cost_is_told_without_its_test(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """`list` and `compare` show the steps that were searched; those of the test are every method's own business."""
    steps = json.loads((runs / "search" / "result.json").read_text())["steps"]
    told = f"{steps['total'] - steps['test'] - steps['validation']:,}"
    for command in (["list", "runs"], ["compare", "runs/search", "runs/ppo"]):
        assert run(command) == 0
        head, *rows = capsys.readouterr().out.splitlines()
        at = head.index("training steps")
        cells = [row[at:].split()[0] for row in rows if "runs/search " in row or "runs/ppo " in row]
        assert cells == [told, told]
    assert f"{steps['total']:,}" != told


def test_tables_and_json_agree_on_calls_and_steps(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """No call where no model was asked, none where one was not reached; a refined program's steps are its own and its run's."""
    result = json.loads((runs / "ppo" / "result.json").read_text())
    steps = {"train": 100, "validation": 20, "test": 7, "total": 127, "program": 1000}
    rows = {
        "refined": {"method": "refine", "steps": steps},
        "unreached": {"method": "promptpo", "model": "openai:m", "llm": {"calls": 0}},
    }
    for name, changes in rows.items():
        (runs / name).mkdir()
        (runs / name / "result.json").write_text(json.dumps(result | changes))
    assert run(["list", "runs", "--json"]) == 0
    told = {one["run"]: one for one in json.loads(capsys.readouterr().out)["runs"]}
    assert run(["list", "runs"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    for line in lines:
        one = told[line.split()[0]]
        cells = [line[head.index(name) :][: len(name)].strip() for name in ("training steps", "calls")]
        trained = one["searched_steps"] - one["validation_steps"]
        assert cells == [f"{trained:,}", "" if one["calls"] is None else f"{one['calls']:,}"]
    assert told["runs/refined"]["searched_steps"] == 1120
    assert told["runs/refined"]["calls"] is None
    assert told["runs/unreached"]["calls"] == 0
    assert told["runs/search"]["calls"] is None
    assert run(["compare", "runs/refined", "runs/unreached", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["runs"]
    assert [{**one, "against_first": None} for one in again] == [
        {**told[f"runs/{name}"], "against_first": None} for name in rows
    ]


def test_rows_say_what_is_not_the_plain_task(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A reward program, arguments, who acts in a baseline and prices that nobody knows are in their row."""
    result = json.loads((runs / "ppo" / "result.json").read_text())
    rows = {
        "rewarded": {
            "reward": {"digest": "d", "file": "r.py", "goal": ""},
            "env_kwargs": {"sutton_barto_reward": True},
        },
        "agent": {
            "method": "llm-agent",
            "model": "openai:m",
            "llm": {"calls": 9, "calls_of_unknown_price": 9},
        },
        "partly": {"llm": {"calls": 9, "cost_usd": 0.5, "calls_of_unknown_price": 1}},
    }
    for name, changes in rows.items():
        (runs / name).mkdir()
        (runs / name / "result.json").write_text(json.dumps(result | changes))
    assert run(["list", "runs"]) == 0
    said = {row.split()[0]: row for row in capsys.readouterr().out.splitlines()}
    assert "CartPole-v1 (sutton_barto_reward=True, a reward program)" in said["runs/rewarded"]
    assert "llm-agent (openai:m)" in said["runs/agent"]
    assert "unknown" in said["runs/agent"]
    assert "more than 0.5000" in said["runs/partly"]
    assert "unknown" not in said["runs/ppo"]


def test_compare_pairs_the_test_episodes(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The same test seeds are compared: a policy that is 10 below in each episode is 10 below, without noise."""
    assert run(["compare", "runs/search", "runs/ppo", "runs/deep/model", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    first, ppo, model = value["runs"]
    assert first["against_first"] is None
    assert (ppo["against_first"]["mean"], ppo["against_first"]["verdict"]) == (-10, -1)
    assert ppo["against_first"]["standard_error"] == 0
    assert model["against_first"] is None  # its episodes were cut at 100 steps: another task


def test_the_page_holds_table_intervals_and_curves(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Well formed, no network, a line for each run in the chart of its task."""
    assert (
        run(["compare", "runs/search", "runs/ppo", "runs/deep/model", "runs/going", "-o", "page.html"]) == 0
    )
    assert re.search(r"-10 ± 0 over \d+ shared episodes, worse", capsys.readouterr().out)
    page = parsed(runs.parent / "page.html")
    assert set(page.links) == {"data:,", "#main"}
    assert page.handlers == page.sources == []
    assert page.scripts == ["code"]
    text = (runs.parent / "page.html").read_text()
    assert text.count('class="curve"') == 4
    assert text.count("Returns before the final test</h3>") == 2
    assert "not finished" in text


def test_an_earlier_comparison_stays(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Each gets a page of its own; one that is named is written again, which is said."""
    again = ", replacing the existing file"
    told = []
    for arguments in (
        ["search", "ppo"],
        ["search", "going"],
        ["search", "ppo"],
        ["ppo", "going", "-o", "compare.html"],
    ):
        named = [f"runs/{name}" if name in {"search", "ppo", "going"} else name for name in arguments]
        assert run(["compare", *named]) == 0
        told.append(capsys.readouterr().out.splitlines()[-1])
    assert told == [
        "wrote compare.html",
        "wrote compare-2.html",
        "wrote compare-3.html",
        f"wrote compare.html{again}",
    ]


def test_what_is_no_page_is_left_alone(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder or bytes under the name of a comparison are not written over, and bytes for a report do not stop one."""
    (runs.parent / "compare.html").mkdir()
    (runs.parent / "compare-2.html").write_bytes(b"\xff\xfe")
    assert run(["compare", "runs/search", "runs/ppo"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "wrote compare-3.html"
    save_own(load_config(runs / "search" / "config.toml"), runs / "search")
    (runs / "search" / "report.html").write_bytes(b"\xff\xfe")
    save_own(load_config(runs / "search" / "config.toml"), runs / "search")
    assert run(["report", "runs/search", "--no-film"]) == 0
    assert (runs / "search" / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_a_page_lists_the_runs_of_a_folder(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its own curve and the way to its report; what is damaged is named, and the page holds no address."""
    (runs / "search" / "report.html").write_text("x")
    assert run(["list", "runs", "--html"]) == 0
    said = capsys.readouterr()
    assert said.out == "wrote runs/runs.html\n"
    assert "damaged" in said.err
    page, text = parsed(runs / "runs.html"), (runs / "runs.html").read_text()
    assert set(page.links) == {"data:,", "#main", "search/report.html"}
    assert text.count("<tr>") == 5
    assert text.count('<span title="curve"><svg') == 4
    assert "difference from the first" not in text
    assert run(["list", "runs", "--html", "-o", "elsewhere.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["output"] == "elsewhere.html"
    assert "runs/search/report.html" in parsed(runs.parent / "elsewhere.html").links
    assert run(["list", "runs", "-o", "x.html"]) == 2
    assert "--html" in capsys.readouterr().err


def test_a_searchs_curve_begins_with_its_first_policy(runs: Any) -> None:
    """Validation comes late in it: until then the best so far is by training episodes."""
    curve = read_line(runs / "search").curve
    assert len(curve) > 1
    assert [x for x, _ in curve] == sorted(x for x, _ in curve)
    assert curve[0][1] < curve[-1][1]


def test_a_baselines_curve_shows_a_collapse(runs: Any) -> None:
    """Every evaluation is a point of it, worse ones too."""
    result = json.loads((runs / "ppo" / "result.json").read_text())
    points = tuple((float(point["steps"]), point["mean_return"]) for point in result["curve"])
    assert len(points) > 1
    assert read_line(runs / "ppo").curve == points


@pytest.mark.parametrize("reported", [0, 50, 100])
@pytest.mark.parametrize("command", [["show"], ["report"], ["compare", "runs/search"], ["list"]])
def test_which_agent_is_reported_is_said_wherever_its_return_is(
    runs: Any, capsys: pytest.CaptureFixture[str], reported: int, command: list[str]
) -> None:
    """Its step, a warning where it is the untrained network, and the return of the last one where that is another."""
    path = runs / "ppo" / "result.json"
    last = {"steps": 100, "test": {"mean_return": -677.0}}
    told = {"algorithm": "ppo", "best": {"steps": reported}, "final": last, "reported": "the best"}
    path.write_text(json.dumps(json.loads(path.read_text()) | told))
    place = ["runs"] if command == ["list"] else ["runs/ppo"]
    assert run([*command, *place]) == 0
    said = capsys.readouterr().out
    if command == ["report"]:
        said = html.unescape((runs.parent / "report.html").read_text())
    assert ("untrained" in said) is (reported == 0)
    assert f"{reported}" in said
    assert ("-677" in said) is (reported < 100 or command[0] in {"compare", "list"})


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (["list", "nowhere"], ["nowhere", "not a folder"], 2),
        (["compare", "runs/search"], ["two or more runs", "promptpo show"], 2),
        (["compare", "runs/search", "runs"], ["runs is not a run"], 2),
        (["compare", "runs/search", "runs/ppo", "-o", "no/where.html"], ["cannot write no/where.html"], 2),
    ],
)
def test_mistakes_are_one_sentence(
    runs: Any, capsys: pytest.CaptureFixture[str], arguments: Any, words: Any, code: int
) -> None:
    """It names what is wrong."""
    assert run(arguments) == code
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    for word in words:
        assert word in said


def test_show_and_export_name_candidates_the_same_way(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """As an argument, "best" included."""
    shown = []
    for arguments in (["r1c1t"], ["best"]):
        assert run(["show", "runs/search", *arguments, "--json"]) == 0
        shown.append(json.loads(capsys.readouterr().out)["source"])
        assert run(["export", "runs/search", *arguments, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["candidate"] == "r1c1t"
    assert len(set(shown)) == 1
    for command in ("show", "export"):
        assert run([command, "runs/search", "r9c9"]) == 2
        assert "it has: best, r1c1, r1c2" in capsys.readouterr().err


def test_nothing_in_a_folder_says_how_to_begin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty folder is no mistake."""
    assert run(["list", str(tmp_path)]) == 0
    assert "promptpo optimize" in capsys.readouterr().out


def test_an_episode_that_failed_is_no_advantage(runs: Any) -> None:
    """A test episode that is missing counts like the worst, at its own seed; the others stay in their pairs."""
    whole = read_line(runs / "search")
    path = runs / "going" / "journal.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["kind"] == "test":
            del line["data"]["evaluation"]["episodes"][0]
            line["data"]["evaluation"]["failed"] = 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shutil.copy(runs / "search" / "result.json", runs / "going")
    found = read_line(runs / "going")
    worst = min(list(whole.returns.values())[1:])
    first = next(iter(whole.returns))
    assert found.returns == {**whole.returns, first: worst}
    assert found.paired_difference(whole).returns == (worst - whole.returns[first], 0, 0, 0)


def test_runs_of_other_tasks_are_not_compared(runs: Any) -> None:
    """Which is said in the place of a difference."""
    first, same = read_line(runs / "search"), read_line(runs / "going")
    other = replace(first, facts={**first.facts, "env_id": "Other-v0"})
    assert [row["difference from the first"] for row in table_rows([first, other, same], first)][
        1
    ] == "another task"
    assert "another task" not in str(table_rows([first, same], first))


def test_a_run_that_goes_on_is_not_told_to_be_resumed(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """While a process has it open; `show` and `export` name the command once none has."""
    for command in ("show", "export"):
        with Journal(runs / "going"):
            run([command, str(runs / "going")])
            shown = capsys.readouterr()
            assert "another process is running it" in shown.out + shown.err
            assert "resume" not in shown.out + shown.err
        run([command, str(runs / "going")])
        shown = capsys.readouterr()
        assert f"promptpo resume {runs / 'going'}" in shown.out + shown.err
