"""Settings are defined once: flags, keywords, bounds and benchmark command lines follow `Config`."""

from __future__ import annotations

import inspect
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.exceptions import TyperException

import promptpo
from promptpo.api import OTHERS, TASK_OPTIONS, apply_changes, build_config, make_config
from promptpo.cli.app import app
from promptpo.cli.document import release
from promptpo.cli.run_flags import ChangedSettings, NewSettings
from promptpo.core.config import Budget, Config, groups_of
from promptpo.core.feature import FeatureSettings, run_settings
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.features.experiments.settings import ExperimentSwitches
from promptpo.features.goals.settings import GoalSettings
from promptpo.features.simulator.settings import SimulatorSettings
from promptpo.run.config_file import config_text, load_config
from promptpo.settings import RunSetting
from promptpo_benchmarks.runner.cells import Cell
from promptpo_benchmarks.runner.methods import METHODS, CellBudget
from promptpo_benchmarks.runner.suite import load_suite

SETTINGS = list(run_settings())


def parse_command(name: str, *words: str) -> dict[str, Any]:
    """Return the parameters that a command parses from these words."""
    group = typer.main.get_command(app)
    context = group.make_context("promptpo", [], resilient_parsing=True)
    try:
        return dict(group.get_command(context, name).make_context(name, list(words), parent=context).params)
    finally:
        release()  # --json keeps standard output for itself


def test_every_config_field_is_a_setting() -> None:
    """The listed fields are the only exceptions."""
    names = {field.name for of in (Config, Budget, *groups_of(FeatureSettings)) for field in fields(of)}
    assert names - {setting.name for setting in SETTINGS} == {
        "task",
        "budget",
        "models",
        "written",
        "files",
        "features",
    }
    assert all(setting.help and setting.group for setting in SETTINGS)
    keywords = [setting.keyword for setting in SETTINGS]
    assert len(set(keywords)) == len(keywords)


def test_keywords_of_optimize_are_the_settings() -> None:
    """Their defaults are equal, and each is documented."""
    defaults = {setting.keyword: setting.default for setting in SETTINGS}
    own = {"env_id", "llm", "progress", "settings", *OTHERS, *TASK_OPTIONS}
    found = inspect.signature(promptpo.optimize).parameters
    assert {name: found[name].default for name in found if name not in own} == {
        name: defaults[name] for name in found if name not in own
    }
    assert all(f"{setting.keyword}: " in (promptpo.optimize.__doc__ or "") for setting in SETTINGS)
    assert build_config("CartPole-v1") == make_config(Task("CartPole-v1"), {})


def test_resume_accepts_changeable_settings() -> None:
    """Python uses field names, the command line flags."""
    changing = {setting.name: setting for setting in SETTINGS if setting.resumed}
    assert all(f"``{name}``" in (promptpo.resume.__doc__ or "") for name in changing)
    given = ChangedSettings(parse_command("resume", "runs/a", "--max-steps", "7", "--price", "1,2"))
    read = {name: value for name, value in given.read(named=True).items() if value}
    assert read == {"steps": 7, "price": (1.0, 2.0)}
    config = Config(Task("CartPole-v1"), allow_weaker_sandbox=True)
    assert apply_changes(config, read).budget.steps == 7
    assert apply_changes(config, {"allow_weaker_sandbox": False, "rounds": None}) == config
    with pytest.raises(UsageError, match="steps must be greater than 0"):
        apply_changes(config, {"steps": 0})


def test_empty_command_line_gives_the_defaults() -> None:
    read = NewSettings(parse_command("optimize", "CartPole-v1")).read()
    assert make_config(Task("CartPole-v1"), read) == Config(Task("CartPole-v1"))


def test_flags_set_config_fields(tmp_path: Path) -> None:
    """Some flags are negated, translated or repeated."""
    words = "--no-clip --no-check --option probe_steps=1 --price 1,2 --spec s.py --max-usd 3 -n 2 --no-frames"
    config = make_config(
        Task("CartPole-v1"), NewSettings(parse_command("optimize", "CartPole-v1", *words.split())).read()
    )
    assert not config.clip_actions
    assert not config.check
    assert config.frames is False
    assert config.recipe_options == {"probe_steps": 1}
    assert (config.price, config.spec_file, config.budget.usd, config.candidates) == ((1, 2), "s.py", 3, 2)


@pytest.mark.parametrize(
    "setting",
    [setting for setting in SETTINGS if setting.least is not None],
    ids=lambda setting: setting.keyword,
)
def test_bounds_hold_for_flags_and_keywords(setting: RunSetting) -> None:
    flag = (setting.flags or f"--{setting.keyword.replace('_', '-')}").split()[0]
    less = (setting.least or 0) - 1
    assert (
        parse_command("optimize", "CartPole-v1", flag, f"{setting.least:g}")[setting.keyword] == setting.least
    )
    with pytest.raises(TyperException, match="greater than or equal"):
        parse_command("optimize", "CartPole-v1", flag, f"{less:g}")
    with pytest.raises(UsageError, match="greater than or equal"):
        make_config(Task("CartPole-v1"), {setting.keyword: less})


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.kind == "optimize"])
def test_benchmark_uses_valid_flags(name: str, tmp_path: Path) -> None:
    """`optimize` accepts every word of its command lines."""
    suite = load_suite("quick")
    budget = CellBudget(usd=1.0, executor="local")
    words = Cell(suite.tasks[0], METHODS[name], "search", 0, tmp_path).command(suite, budget, 3)
    assert words[3] == "optimize"
    assert parse_command("optimize", *words[4:])


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"goal": "to the left", "judge": "me"}, GoalSettings),
        ({"simulate": True, "policy": "network"}, SimulatorSettings),
    ],
)
def test_feature_settings_are_saved_and_validated(
    given: dict[str, Any], kind: type[FeatureSettings], tmp_path: Path
) -> None:
    """In the file as in Python, an invalid value is rejected by its name."""
    config = make_config(Task("CartPole-v1"), given)
    path = tmp_path / "config.toml"
    path.write_text(config_text(config), encoding="utf-8")
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    assert {name: table[name] for name in given} == given
    assert load_config(path) == config
    assert given.items() <= vars(load_config(path).of(kind)).items()
    for name in given:
        with pytest.raises(UsageError, match=f"^{name} must be"):
            make_config(Task("CartPole-v1"), {name: ["?"]})


def test_recipe_sets_switches_unless_overridden() -> None:
    assert Config(Task("CartPole-v1")).of(ExperimentSwitches).probe
    paper = Config(Task("CartPole-v1"), recipe="paper")
    assert (paper.of(ExperimentSwitches).probe, paper.switches.early_stop) == (False, False)
    overridden = Config(
        Task("CartPole-v1"), recipe="paper", recipe_options={"probe": True, "early_stop": True}
    )
    assert (overridden.of(ExperimentSwitches).probe, overridden.switches.early_stop) == (True, True)


def test_removed_switch_is_rejected_on_resume(tmp_path: Path) -> None:
    """An older run can be shown, but is not continued without its switch."""
    config = Config(Task("CartPole-v1"), recipe_options={"racing": False})
    (tmp_path / "config.toml").write_text(config_text(config), encoding="utf-8")
    known = load_config(tmp_path / "config.toml")
    assert known == config
    with pytest.raises(UsageError, match="no switch 'racing'"):
        apply_changes(known, {"rounds": 7})
