"""The commands load quickly and explain missing packages."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from promptpo_baselines.cli import main


def call(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return exit code, standard output and standard error of a command line in this process."""
    code = main(list(words))
    out = capsys.readouterr()
    return code, out.out, out.err


def test_heavy_packages_are_imported_late(tmp_path: Path) -> None:
    """Neither torch nor stable-baselines3 is loaded by a refused run or by methods that do not learn."""
    (tmp_path / "file").touch()
    code = f"""
import sys, promptpo_baselines.cli as cli
print({{'torch', 'stable_baselines3', 'transformers', 'gymnasium'}} & set(sys.modules))
print(cli.main(['ppo', 'CartPole-v1', '--max-steps', '100', '--out', {str(tmp_path / "file")!r}]))
print({{'torch', 'stable_baselines3', 'transformers'}} & set(sys.modules))
sys.modules.update(dict.fromkeys(['stable_baselines3', 'sb3_contrib', 'torch']))  # as promptpo alone is installed
for method in ('random', 'zero'):
    assert cli.main([method, 'CartPole-v1', '--test-episodes', '2', '--quiet', '--out', {str(tmp_path)!r} + '/' + method]) == 0
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines(), done.returncode) == (["set()", "2", "set()"], 0), done.stderr


@pytest.mark.parametrize("command", ["ppo", "llm-policy", "random"])
def test_every_command_has_help(capsys: pytest.CaptureFixture[str], command: Any) -> None:
    """Lazily loaded ones have it too."""
    code, out, _ = call(capsys, command, "--help")
    assert code == 0
    assert f"promptpo baseline {command}" in out


@pytest.mark.parametrize(
    ("words", "missing", "command"),
    [
        (["ppo", "CartPole-v1"], "stable_baselines3", 'pip install "promptpo[baselines]"'),
        (["llm-policy", "CartPole-v1"], "transformers", 'pip install "promptpo[llm-policy]"'),
    ],
)
def test_missing_extra_gets_one_sentence(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    missing: Any,
    command: str,
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else real(name))
    code, _, error = call(capsys, *words)
    assert code == 1
    assert command in error
    assert "Traceback" not in error


@pytest.mark.parametrize("method", ["random", "zero"])
def test_methods_that_do_not_learn_have_the_same_result_format(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, method: str
) -> None:
    """It has all keys of tables, and no training steps."""
    words = [
        method,
        "CartPole-v1",
        "--test-episodes",
        "5",
        "--out",
        str(tmp_path / "run"),
        "--json",
        "--steps",
        "7",
    ]
    code, out, _ = call(capsys, *words)
    result = json.loads(out)
    assert code == 0
    assert result["method"] == method
    assert result["steps"]["train"] == 0
    assert result["test"]["episodes"] == len(result["test"]["returns"]) == 5
    assert result["test"]["mean_return"] < 60
    assert call(capsys, *words)[0] == 2
    assert json.loads(call(capsys, *words, "--resume")[1]) == result


def test_wrong_usage_is_refused_before_training(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert call(capsys, "ppo", "CartPole-v1", "--resume")[0] == 2
    code, _, error = call(
        capsys, "ppo", "CartPole-v1", "--hyperparams", "nowhere.yml", "--out", str(tmp_path / "a")
    )
    assert code == 2
    assert "nowhere.yml" in error
    code, _, error = call(capsys, "llm-policy", "CartPole-v1", "--tune", "lota", "--out", str(tmp_path / "b"))
    assert code == 2
    assert "'lota' is not one of 'frozen', 'lora', 'full'" in error
