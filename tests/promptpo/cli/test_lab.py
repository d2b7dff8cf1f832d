"""``promptpo lab`` has the studies; their old names work for one version, with a sentence."""

from __future__ import annotations

import importlib.util

import pytest

from promptpo.cli.app import run
from promptpo.cli.help import COMMAND_GROUPS
from promptpo.cli.lab import LAB


def test_the_help_has_all_commands_of_users_and_no_study(capsys: pytest.CaptureFixture[str]) -> None:
    """Each stands in one group."""
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    listed = [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line[2].isalpha()]
    grouped = [name for names in COMMAND_GROUPS.values() for name in names.split()]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) <= set(listed)
    assert not set(LAB) & set(listed)
    assert "Of other packages" not in shown


@pytest.mark.parametrize("name", LAB)
def test_a_study_has_a_new_and_an_old_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The old one is not listed, works, and says the new one on standard error."""
    assert run(["lab", "--help"]) == 0
    assert f"  {name} " in capsys.readouterr().out
    assert run(["lab", name, "--help"]) == 0
    new = capsys.readouterr()
    assert f"promptpo lab {name}" in new.out
    assert not new.err
    assert run([*LAB[name].split(), "--help"]) == 0
    old = capsys.readouterr()
    assert f"{LAB[name]} is promptpo lab {name} now" in old.err
    assert old.out.replace(f"promptpo {LAB[name]}", f"promptpo lab {name}").split() == new.out.split()
    if " " in LAB[name]:
        assert run([LAB[name].split()[0], "--help"]) == 0
        assert name not in capsys.readouterr().out


def test_without_the_extra_one_sentence_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback: the package, and the pip command."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else real(name)
    )
    assert run(["lab", "cartpole-study"]) == 1
    assert 'pip install "promptpo[baselines]"' in capsys.readouterr().err


def test_a_study_that_is_not_there_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """As elsewhere."""
    assert run(["lab", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err
