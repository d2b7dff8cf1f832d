"""Suites: their files, valid settings, and that their tasks can be built."""

from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo_benchmarks.report.references import load_references, references_for
from promptpo_benchmarks.runner.suite import Suite, SuiteTask, load_suite, suite_names
from promptpo_benchmarks.statistics.anchors import Anchors, anchors_of, load_anchors
from tests.promptpo.envs.test_building import META_WORLD

EXPECTED = {
    "classic": 13,
    "core16": 16,
    "hard-exploration": 14,
    "icpi": 6,
    "metaworld": 4,
    "metaworld-mt10": 10,
    "metaworld-mt50": 50,
    "mujoco": 10,
    "proof": 28,
    "quick": 6,
    "real-world": 4,
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_suites_have_the_expected_number_of_tasks(name: str) -> None:
    assert name in suite_names()
    assert len(load_suite(name).tasks) == EXPECTED[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_task_has_a_step_budget(name: str) -> None:
    """Also if it is given in episodes of full length."""
    suite = load_suite(name)
    assert all(suite.steps_of(task) > 0 for task in suite.tasks)


TASKS = {str(task.as_task()): task.as_task() for name in sorted(EXPECTED) for task in load_suite(name).tasks}
"""Every task of all suites, once."""
TESTED_ELSEWHERE = {str(task): task for task in (Task(f"Meta-World/{name}") for name in META_WORLD)}
"""Meta-World tasks, which the tests of `make_env` build, reset and step."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "task", [TASKS[key] for key in TASKS if key not in TESTED_ELSEWHERE], ids=lambda task: task.name
)
def test_every_task_can_be_built(task: Task) -> None:
    env = make_env(task)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    env.close()


def write_suite(tmp_path: Path, text: str) -> Any:
    """Write a suite file and return its path."""
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


def test_task_is_an_id_or_a_table(tmp_path: Path) -> None:
    suite = load_suite(
        write_suite(
            tmp_path,
            'title = "t"\nsteps = 100\ntasks = ["CartPole-v1", {env = "m:ns/X-v0", kwargs = {a = 1}, steps = 7, score = "success"}]',
        )
    )
    assert suite == Suite(
        "mine",
        "t",
        (SuiteTask("CartPole-v1"), SuiteTask("m:ns/X-v0", {"a": 1}, steps=7, score="success")),
        100,
    )
    assert [task.label for task in suite.tasks] == ["CartPole-v1", "X-v0"]
    assert [suite.steps_of(task) for task in suite.tasks] == [100, 7]
    assert [suite.score_of(task) for task in suite.tasks] == ["return", "success"]


def test_budget_in_episodes_depends_on_the_horizon(tmp_path: Path) -> None:
    """128 episodes of CartPole are 64,000 steps."""
    suite = load_suite(write_suite(tmp_path, 'title = "t"\ntraining_episodes = 128\ntasks = ["CartPole-v1"]'))
    assert suite.steps_of(suite.tasks[0]) == 64_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title = "t"\ntasks = ["A-v0"]\nstep = 3', "no 'step'"),
        ('title = "t"\ntasks = [{env = "A-v0", sed = 1}]', "no 'sed'"),
        ('title = "t"\ntasks = ["A-v0", "A-v0"]', "two tasks called A-v0"),
        ('title = "t"\ntasks = []', "no tasks"),
        ('tasks = ["A-v0"]', "title"),
        ("title = ", "does not describe a suite"),
        ('title = "t"\nsteps = "many"\ntasks = ["A-v0"]', "steps"),
    ],
)
def test_malformed_suite_gets_one_sentence(tmp_path: Path, text: str, message: Any) -> None:
    with pytest.raises(UsageError, match=message):
        load_suite(write_suite(tmp_path, text))


def test_unknown_suite_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="classic, core16"):
        load_suite("clasic")


def test_anchors_are_ordered_and_cover_the_suites() -> None:
    """Each has a source, and only one task has none."""
    kinds = {task.label: suite.score_of(task) for suite in map(load_suite, EXPECTED) for task in suite.tasks}
    anchors = anchors_of(kinds)
    for pair in anchors.values():
        assert pair.high > pair.low
        assert pair.low_source
        assert pair.high_source
    assert set(kinds) - set(anchors) == {"Humanoid-v5"}
    assert set(load_anchors()) <= set(kinds)


def test_normalised_score_is_linear_and_not_clipped() -> None:
    """0 at the low anchor, 1 at the high one."""
    pair = Anchors(-100.0, 100.0, "low", "high")
    assert [pair.normalize(x) for x in (-100, 0, 100, 200)] == [0, 0.5, 1, 1.5]


def test_references_have_sources_and_known_tasks() -> None:
    """And say how they were obtained and why to be careful."""
    labels = {task.label for name in EXPECTED for task in load_suite(name).tasks}
    for reference in load_references():
        assert reference.source
        assert reference.caution
        assert reference.claims or reference.scores
        assert set(reference.scores) <= labels
    assert len(references_for("HalfCheetah-v5")) == 2
    assert references_for("CliffWalking-v1") == []


def test_every_core16_task_has_a_published_score() -> None:
    """The suite exists for that comparison."""
    board = next(r for r in load_references() if "Core16" in r.title)
    assert set(board.scores) == {task.label for task in load_suite("core16").tasks}
