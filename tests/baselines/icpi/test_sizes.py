"""Which models are large enough: the probe with several engines, one table, one figure."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.icpi.sizes import SizedModel, sized_models
from benchmarks.icpi.sizes_report import wilson
from promptpo.cli.app import run


def study(capsys: pytest.CaptureFixture[str], folder: Path, models: str, *words: str) -> Any:
    """Exit code, standard output and standard error of one study on the chain."""
    code = run(
        ["benchmark", "icpi", "--probe", "--models", models, "--examples", "5,20", "--questions", "6",
         "--out", str(folder), *words]
    )  # fmt: skip
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize(
    ("text", "engine", "address", "parameters"),
    [
        ("embedded:smollm2", "embedded:smollm2", None, 135e6),
        ("270M=embedded:./gemma.gguf", "embedded:./gemma.gguf", None, 270e6),
        ("llamacpp:qwen2.5-0.5b-instruct@http://h:1/v1", "llamacpp:qwen2.5-0.5b-instruct", "http://h:1/v1", 0.5e9),
        ("openai:gpt-5-mini", "openai:gpt-5-mini", None, None),
        ("openai:gpt-4.1-mini", "openai:gpt-4.1-mini", None, None),
        ("exec:answer --n=3", "exec:answer --n=3", None, None),
    ],
)  # fmt: skip
def test_a_model_is_read_with_its_size(text: str, engine: str, address: Any, parameters: Any) -> None:
    """Stated, in its name, or not known; a version is no size."""
    assert SizedModel.parse(text) == SizedModel(engine, address, parameters)


def test_models_stand_by_size() -> None:
    """Those of unknown size last, as they were given."""
    found = sized_models("oracle,7B=vllm:a@http://h/v1,lookup,embedded:smollm2")
    assert [model.engine for model in found] == ["embedded:smollm2", "vllm:a", "oracle", "lookup"]


@pytest.mark.parametrize(
    ("right", "asked", "low", "high"), [(10, 10, 0.722, 1.0), (0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763)]
)
def test_wilson_s_interval(right: int, asked: int, low: float, high: float) -> None:
    """The published values; it stays inside 0 and 1."""
    assert wilson(right, asked) == pytest.approx((low, high), abs=0.001)


def test_only_what_passes_runs_and_nothing_is_asked_twice(
    capsys: pytest.CaptureFixture[str], server: Any, tmp_path: Path
) -> None:
    """The oracle passes and lookup does not; a model behind HTTP joins the folder later."""
    models = f"oracle,lookup,7B=completion:m@{server.address}"
    code, out, _ = study(capsys, tmp_path, models, "--agent", "never")
    assert code == 0
    paid = len(server.completions)
    assert paid > 20
    assert study(capsys, tmp_path, models, "--agent", "never")[1] == out
    assert len(server.completions) == paid
    code, out, _ = study(capsys, tmp_path, "oracle,lookup")
    by_model = {line.split()[0]: line for line in out.splitlines()[1:] if " 20 " in line}
    assert "1 runs" in by_model["oracle"]
    assert "not run" in by_model["lookup"]
    assert {json.loads(line)["engine"] for line in (tmp_path / "probes.jsonl").read_text().splitlines()} == {
        "oracle", "lookup", "completion:m",
    }  # fmt: skip
    assert (tmp_path / "sizes.png").read_bytes().startswith(b"\x89PNG")
    assert "promptpo" in (tmp_path / "sizes.md").read_text().splitlines()[0]
    assert len((tmp_path / "sizes.csv").read_text().splitlines()) == 1 + 2 * 2 * 4


def test_an_estimate_asks_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A sentence for each paid model, with its price."""
    code, out, _ = study(capsys, tmp_path / "none", "openai:gpt-4.1-mini,lookup", "--dry-run")
    assert code == 0
    assert "probe at most 48 calls" in out
    assert "$" in out
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["classic", "--probe", "--models", "lookup"], "--probe is for icpi"),
        (["icpi", "--probe"], "--probe needs engines"),
        (["icpi", "--probe", "--models", "lookup,lookup"], "the same engine twice"),
        (["icpi", "--probe", "--models", "lookup", "--examples", "a"], "--examples takes numbers"),
        (["icpi", "--probe", "--models", "lookup", "--domains", "Chian"], "Chian"),
        (["icpi", "--probe", "--models", "embedded:none.gguf"], "none.gguf"),
    ],
)
def test_wrong_usage_is_told_in_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: Any, said: str
) -> None:
    """Exit code 2, and no folder."""
    monkeypatch.chdir(tmp_path)
    assert run(["benchmark", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
