"""Finding, listing and comparing many runs, including baselines."""

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
from tests.promptpo.output.report.test_page import parse_page

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
        "curve": [
            {"steps": 100, "mean_return": 20.0},
            {"steps": 200, "validation_steps": 30, "mean_return": 9.0},
        ],
    }
    baseline["test"] = {**result["test"], "returns": returns, "mean_return": sum(returns) / len(returns)}
    (tmp_path / "runs" / "ppo").mkdir()
    (tmp_path / "runs" / "ppo" / "result.json").write_text(json.dumps(baseline))
    (tmp_path / "runs" / "damaged").mkdir()
    (tmp_path / "runs" / "damaged" / "result.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def test_runs_are_found_in_nested_folders(runs: Any) -> None:
    """Each is listed once, in order of names; folders inside a run are not searched."""
    assert [path.name for path in find_runs(runs)] == ["damaged", "model", "going", "ppo", "search"]
    assert find_runs(runs / "search") == [runs / "search"]


def test_list_prints_one_line_per_run(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Unfinished runs and baselines are listed; a damaged one is named on standard error."""
    assert run(["list", "runs"]) == 0
    captured = capsys.readouterr()
    rows = captured.out.splitlines()
    assert len(rows) == 5
    assert "not finished" in next(row for row in rows if "going" in row)
    assert "360.8" in next(row for row in rows if row.startswith("runs/search"))
    assert "ppo" in next(row for row in rows if "runs/ppo" in row)
    assert "damaged" in captured.err
    assert run(["list", "runs", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert {one["env_id"] for one in value["runs"]} == {"CartPole-v1"}
    assert len(value["damaged"]) == 1


def test_training_steps_exclude_validation_and_test(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """This holds for `list` and for `compare`."""
    steps = json.loads((runs / "search" / "result.json").read_text())["steps"]
    expected = f"{steps['total'] - steps['test'] - steps['validation']:,}"
    for command in (["list", "runs"], ["compare", "runs/search", "runs/ppo"]):
        assert run(command) == 0
        header, *rows = capsys.readouterr().out.splitlines()
        column = header.index("training steps")
        cells = [row[column:].split()[0] for row in rows if "runs/search " in row or "runs/ppo " in row]
        assert cells == [expected, expected]
    assert f"{steps['total']:,}" != expected


def test_tables_and_json_agree_on_calls_and_steps(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Calls are empty without a model and 0 if none was reached; a refined program's steps include those of its run."""
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
    by_run = {one["run"]: one for one in json.loads(capsys.readouterr().out)["runs"]}
    assert run(["list", "runs"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    for line in lines:
        one = by_run[line.split()[0]]
        cells = [line[header.index(name) :][: len(name)].strip() for name in ("training steps", "calls")]
        trained = one["searched_steps"] - one["validation_steps"]
        assert cells == [f"{trained:,}", "" if one["calls"] is None else f"{one['calls']:,}"]
    assert by_run["runs/refined"]["searched_steps"] == 1120
    assert by_run["runs/refined"]["calls"] is None
    assert by_run["runs/unreached"]["calls"] == 0
    assert by_run["runs/search"]["calls"] is None
    assert run(["compare", "runs/refined", "runs/unreached", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)["runs"]
    assert [{**one, "against_first": None} for one in compared] == [
        {**by_run[f"runs/{name}"], "against_first": None} for name in rows
    ]


def test_rows_show_rewards_arguments_models_and_unknown_prices(
    runs: Any, capsys: pytest.CaptureFixture[str]
) -> None:
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
    row_of = {row.split()[0]: row for row in capsys.readouterr().out.splitlines()}
    assert "CartPole-v1 (sutton_barto_reward=True, a reward program)" in row_of["runs/rewarded"]
    assert "llm-agent (openai:m)" in row_of["runs/agent"]
    assert "unknown" in row_of["runs/agent"]
    assert "more than 0.5000" in row_of["runs/partly"]
    assert "unknown" not in row_of["runs/ppo"]


def test_compare_pairs_the_test_episodes(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A policy 10 below in each episode differs by exactly -10, without noise."""
    assert run(["compare", "runs/search", "runs/ppo", "runs/deep/model", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    first, ppo, model = value["runs"]
    assert first["against_first"] is None
    assert (ppo["against_first"]["mean"], ppo["against_first"]["verdict"]) == (-10, -1)
    assert ppo["against_first"]["standard_error"] == 0
    assert model["against_first"] is None  # its episodes end at 100 steps, which is another task


def test_comparison_page_has_table_intervals_and_curves(
    runs: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is well formed, uses no network and draws one curve per run in the chart of its task."""
    assert (
        run(["compare", "runs/search", "runs/ppo", "runs/deep/model", "runs/going", "-o", "page.html"]) == 0
    )
    assert re.search(r"-10 ± 0 over \d+ shared episodes, worse", capsys.readouterr().out)
    page = parse_page(runs.parent / "page.html")
    assert set(page.links) == {"data:,", "#main"}
    assert page.handlers == page.sources == []
    assert page.scripts == ["code"]
    text = (runs.parent / "page.html").read_text()
    assert text.count('class="curve"') == 4
    assert text.count("Returns before the final test</h3>") == 2
    assert "not finished" in text


def test_comparison_does_not_overwrite_an_earlier_one(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A page named with -o is replaced, and the output says so."""
    replaced = ", replacing the existing file"
    last_lines = []
    for arguments in (
        ["search", "ppo"],
        ["search", "going"],
        ["search", "ppo"],
        ["ppo", "going", "-o", "compare.html"],
    ):
        named = [f"runs/{name}" if name in {"search", "ppo", "going"} else name for name in arguments]
        assert run(["compare", *named]) == 0
        last_lines.append(capsys.readouterr().out.splitlines()[-1])
    assert last_lines == [
        "wrote compare.html",
        "wrote compare-2.html",
        "wrote compare-3.html",
        f"wrote compare.html{replaced}",
    ]


def test_other_files_under_a_pages_name_are_kept(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder or a binary file named like a comparison stays; a binary file does not prevent a report."""
    (runs.parent / "compare.html").mkdir()
    (runs.parent / "compare-2.html").write_bytes(b"\xff\xfe")
    assert run(["compare", "runs/search", "runs/ppo"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "wrote compare-3.html"
    save_own(load_config(runs / "search" / "config.toml"), runs / "search")
    (runs / "search" / "report.html").write_bytes(b"\xff\xfe")
    save_own(load_config(runs / "search" / "config.toml"), runs / "search")
    assert run(["report", "runs/search", "--no-film"]) == 0
    assert (runs / "search" / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_list_as_a_page(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Each run has its curve and a link to its report, and damaged ones are named."""
    (runs / "search" / "report.html").write_text("x")
    assert run(["list", "runs", "--html"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "wrote runs/runs.html\n"
    assert "damaged" in captured.err
    page, text = parse_page(runs / "runs.html"), (runs / "runs.html").read_text()
    assert set(page.links) == {"data:,", "#main", "search/report.html"}
    assert text.count("<tr>") == 5
    assert text.count('<span title="curve"><svg') == 4
    assert "difference from the first" not in text
    assert run(["list", "runs", "--html", "-o", "elsewhere.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["output"] == "elsewhere.html"
    assert "runs/search/report.html" in parse_page(runs.parent / "elsewhere.html").links
    assert run(["list", "runs", "-o", "x.html"]) == 2
    assert "--html" in capsys.readouterr().err


def test_curve_of_a_search_begins_with_its_first_policy(runs: Any) -> None:
    """Until the first validation, the best so far is judged by training episodes."""
    curve = read_line(runs / "search").curve
    assert len(curve) > 1
    assert [x for x, _ in curve] == sorted(x for x, _ in curve)
    assert curve[0][1] < curve[-1][1]


def test_curve_of_a_baseline_has_every_evaluation(runs: Any) -> None:
    """Including those that are worse than an earlier one; steps of tuning and validation count, as for a search."""
    tuned = json.loads((runs / "ppo" / "result.json").read_text())["steps"]["tune"]
    assert read_line(runs / "ppo").curve == ((tuned + 100.0, 20.0), (tuned + 230.0, 9.0))


@pytest.mark.parametrize("reported", [0, 50, 100])
@pytest.mark.parametrize("command", [["show"], ["report"], ["compare", "runs/search"], ["list"]])
def test_reported_agent_of_a_baseline_is_named(
    runs: Any, capsys: pytest.CaptureFixture[str], reported: int, command: list[str]
) -> None:
    """Its step, a warning if it is untrained, and the last agent's return if that is another one."""
    path = runs / "ppo" / "result.json"
    last = {"steps": 100, "test": {"mean_return": -677.0}}
    changes = {"algorithm": "ppo", "best": {"steps": reported}, "final": last, "reported": "the best"}
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    targets = ["runs"] if command == ["list"] else ["runs/ppo"]
    assert run([*command, *targets]) == 0
    text = capsys.readouterr().out
    if command == ["report"]:
        text = html.unescape((runs.parent / "report.html").read_text())
    assert ("untrained" in text) is (reported == 0)
    assert f"{reported}" in text
    assert ("-677" in text) is (reported < 100 or command[0] in {"compare", "list"})


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
    assert run(arguments) == code
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    for word in words:
        assert word in err


def test_show_and_export_accept_the_same_candidate_names(
    runs: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = []
    for arguments in (["r1c1t"], ["best"]):
        assert run(["show", "runs/search", *arguments, "--json"]) == 0
        sources.append(json.loads(capsys.readouterr().out)["source"])
        assert run(["export", "runs/search", *arguments, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["candidate"] == "r1c1t"
    assert len(set(sources)) == 1
    for command in ("show", "export"):
        assert run([command, "runs/search", "r9c9"]) == 2
        assert "it has: best, r1c1, r1c2" in capsys.readouterr().err


def test_list_of_an_empty_folder_says_how_to_begin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["list", str(tmp_path)]) == 0
    assert "promptpo optimize" in capsys.readouterr().out


def test_failed_test_episode_counts_as_the_worst(runs: Any) -> None:
    """It keeps its seed, so that the other episodes stay paired."""
    whole = read_line(runs / "search")
    path = runs / "going" / "journal.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["kind"] == "test":
            del line["data"]["evaluation"]["episodes"][0]
            line["data"]["evaluation"]["failed"] = 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shutil.copy(runs / "search" / "result.json", runs / "going")
    run_line = read_line(runs / "going")
    worst = min(list(whole.returns.values())[1:])
    first = next(iter(whole.returns))
    assert run_line.returns == {**whole.returns, first: worst}
    assert run_line.paired_difference(whole).returns == (worst - whole.returns[first], 0, 0, 0)


def test_runs_of_other_tasks_are_not_compared(runs: Any) -> None:
    """The table says "another task" in place of a difference."""
    first, same = read_line(runs / "search"), read_line(runs / "going")
    other = replace(first, facts={**first.facts, "env_id": "Other-v0"})
    assert [row["difference from the first"] for row in table_rows([first, other, same], first)][
        1
    ] == "another task"
    assert "another task" not in str(table_rows([first, same], first))


def test_active_run_is_not_suggested_for_resuming(runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """`show` and `export` suggest it only once no process has the run open."""
    for command in ("show", "export"):
        with Journal(runs / "going"):
            run([command, str(runs / "going")])
            captured = capsys.readouterr()
            assert "another process is running it" in captured.out + captured.err
            assert "resume" not in captured.out + captured.err
        run([command, str(runs / "going")])
        captured = capsys.readouterr()
        assert f"promptpo resume {runs / 'going'}" in captured.out + captured.err
