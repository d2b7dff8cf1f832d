"""Settings from Python: a wrong one gives one sentence before anything starts."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.api import make_config
from promptpo.core.config import Budget, Config, Recipe
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.llm.base import ALL_PURPOSES
from promptpo.llm.scripted import ScriptedLLM
from promptpo.run.checking import check_model, with_settings
from promptpo.run.config_file import config_text, load_config

CONFIG = Config(Task("CartPole-v1"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"recipe": "papr"}, ["recipe", "'default', 'paper', 'evolve'", "'papr'"]),
        ({"reveal": "bar"}, ["reveal", "'bare'", "not 'bar'"]),
        ({"recipe_options": {"probe_steps": 0}}, ["probe_steps", "greater than or equal to 1"]),
        ({"recipe_options": {"probe_steps": "x"}}, ["probe_steps", "valid integer", "'x'"]),
        ({"recipe_options": {"early_stopp": 2}}, ["no switch 'early_stopp'", "did you mean early_stop?"]),
        ({"recipe_options": 3}, ["recipe_options", "dictionary"]),
        ({"budget": Budget(rounds="x")}, ["rounds", "valid integer", "'x'"]),
        ({"budget": Budget(rounds=0)}, ["rounds", "greater than or equal to 1"]),
        ({"budget": Budget(usd=float("nan"))}, ["usd", "nan"]),
        ({"budget": Budget(seconds=-1)}, ["seconds", "greater than 0"]),
        ({"candidates": 2.5}, ["candidates", "valid integer", "2.5"]),
        ({"clip_actions": "perhaps"}, ["clip_actions", "boolean"]),
        ({"model": 7}, ["model", "string", "7"]),
        ({"seed": -1}, ["seed", "greater than or equal to 0"]),
        ({"seed": 10**400}, ["seed", "less than or equal"]),
        ({"budget": Budget(steps=10**400)}, ["steps", "less than or equal"]),
        ({"hint": "cold \udcff"}, ["incomplete character", "udcff"]),
        ({"task": Task("CartPole-v1", {"text": "\ud800"})}, ["incomplete character", "ud800"]),
        ({"task": Task("CartPole-v1", {}, 0)}, ["max_episode_steps", "greater than or equal to 1"]),
        ({"task": Task("CartPole-v1", [1])}, ["env_kwargs", "dictionary"]),
        ({"stop_at": float("nan")}, ["--stop-at", "finite", "nan"]),
        ({"stop_at": float("inf")}, ["--stop-at", "finite", "inf"]),
        ({"stop_at": 9.0, "recipe_options": {"early_stop": False}}, ["--stop-at", "early_stop=false"]),
    ],
)
def test_invalid_setting_gets_one_sentence(settings: Any, words: Any) -> None:
    """It names the setting, the allowed values and the given one."""
    with pytest.raises(UsageError) as refused:
        with_settings(replace(CONFIG, **settings), {})
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    for word in words:
        assert word in sentence


def test_unknown_setting_suggests_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"there is no setting 'candidatez'; did you mean candidates\?"):
        make_config(Task("CartPole-v1"), {"candidatez": 1})


def test_valid_settings_are_kept() -> None:
    """Numbers given as text and paths are converted."""
    assert with_settings(CONFIG, {}) == CONFIG
    given_ = replace(CONFIG, candidates="3", spec_file=Path("spec.py"), recipe_options={"probe_steps": 9})
    assert with_settings(given_, {}) == replace(
        CONFIG, candidates=3, spec_file="spec.py", recipe_options={"probe_steps": 9}
    )


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "candidates": st.integers(-2, 5) | st.floats(allow_nan=True) | st.text(max_size=3),
            "temperature": st.none() | st.floats(allow_nan=True),
            "recipe": st.sampled_from(["default", "paper", "evolve", "", "best"]),
            "reveal": st.sampled_from(["named", "bare", "x", None]),
            "repairs": st.integers(-2, 3) | st.booleans() | st.none(),
            "recipe_options": st.dictionaries(
                st.sampled_from([f.name for f in fields(Recipe)]),
                st.integers(-1, 3) | st.text(max_size=2),
                max_size=2,
            ),
        },
    )
)
def test_valid_configuration_survives_saving(settings: Any) -> None:
    """config.toml restores it, so that the run can be resumed."""
    import tempfile

    try:
        config = with_settings(replace(CONFIG, **settings), {})
    except UsageError:
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.toml").write_text(config_text(config))
        assert load_config(Path(folder) / "config.toml") == config


@pytest.mark.parametrize(
    "features", [{"simulate": True}, {"policy": "network"}, {"policy": "any", "simulate": False}]
)
def test_search_in_a_simulator_requires_one(features: Any) -> None:
    """So does a model that can write it."""
    llm = ScriptedLLM(lambda _: "")
    with pytest.raises(UsageError, match="simulat"):
        check_model(replace(CONFIG, features=features), llm)
    writes = ScriptedLLM(lambda _: "", purposes=ALL_PURPOSES)
    check_model(replace(CONFIG, features={**features, "simulate": True}), writes)
