"""Reports of experiments stay short and clean whatever was printed; the example in the prompt runs."""

import re
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest
from gymnasium import spaces
from hypothesis import example as instance
from hypothesis import given
from hypothesis import strategies as st

from promptpo.features.experiments import report
from promptpo.features.experiments.prompts import example
from promptpo.features.experiments.records import Experiment
from promptpo.features.experiments.report import FIT
from promptpo.program import answers
from promptpo.prompts import limits
from promptpo.prompts.feedback import for_feedback_class
from promptpo.prompts.shortening import tidy
from promptpo_sandbox import Sandbox, Trial, check_source
from promptpo_sandbox.text import clean

SOURCE = '"""Push to the left."""\n\n\nclass Probe:\n    def act(self, obs):\n        return 0\n'
TEXTS = st.text(max_size=400) | st.text("#`~ \n\t\x1b\u202e\ud800ab", max_size=400)


@given(TEXTS)
@instance("# # What to do now\n````\n\n#\n\n#\nx")
def test_tidied_report_is_plain_text(text: str) -> None:
    """It has no fences, headings, control sequences or gaps; tidying is idempotent."""
    tidied = tidy(text)
    assert clean(tidied) == tidied
    assert "```" not in tidied
    assert "~~~" not in tidied
    assert not re.search(r"^\s*#", tidied, re.MULTILINE)
    assert "\n\n\n" not in tidied
    assert tidy(tidied) == tidied


def test_long_reports_are_cut_at_the_end_but_keep_fits() -> None:
    """Short reports leave their space to long ones."""
    table = "\n".join(f"step {n}: moved {n}" for n in range(40))
    long = "\n\n".join([table, table, table, table, "more words\nFIT: gain 2.5\n" + table])
    short = "FIT: drag 0.1"
    combined = report.report_of([long, short, "", "none"])
    first, _, second = combined.partition("\n\nEpisode 2:\n")
    assert second == f"{short}\n\nEpisode 4:\nnone"
    assert first.startswith("Episode 1:\nFIT: gain 2.5\nstep 0: moved 0\n")
    assert first.endswith(" more lines)")
    assert len(combined) <= limits.REPORT
    ten = report.report_of([f"{n}\n{long}" for n in range(10)])
    assert len(ten) <= limits.REPORT
    assert ten.count("FIT: gain 2.5") == 1
    crowded = Experiment("p1.1", SOURCE, "\n".join(f"FIT: {n} {'x' * 80}" for n in range(20)), "", steps=7)
    assert "p1.1 (0 episodes, 7 steps): Push to the left." in report.section([crowded], 900)
    assert report.report_of([short, table, short]) == f"Episode 1, 3:\n{short}\n\nEpisode 2:\n{table}"


@given(
    st.lists(
        st.lists(st.sampled_from(["a row", "another row", "FIT: k 1", "FIT: k 2", "FIT: k 3"]), max_size=60),
        max_size=10,
    ),
    st.integers(400, 3000),
)
def test_fits_stay_with_their_episode_and_omitted_episodes_are_named(
    episodes: list[list[str]], room: int
) -> None:
    reports = ["\n".join([f"episode {n}", *lines]) for n, lines in enumerate(episodes, 1)]
    experiment = Experiment("p1.1", SOURCE, report.report_of(reports), "", steps=7)
    text = report.section([experiment], room)
    assert len(text) <= room
    assert FIT not in text.partition("\nEpisode ")[0]
    shown: list[str] = []
    for n, lines in enumerate(episodes, 1):
        begins = text.find(f"\nEpisode {n}:\n")
        if begins < 0:
            assert re.search(rf"No room for episodes [\d, ]*\b{n}\b", text)
            continue
        fits = re.findall(r"^FIT: .*", text[begins:].split("\n\n")[0], re.MULTILINE)
        assert set(fits) <= set(lines)
        shown += set(fits)
    assert len(shown) == len(set(shown))


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=8), st.integers(400, 6000))
def test_shown_experiments_have_room_or_are_whole(sizes: list[int], room: int) -> None:
    """Those left out are counted; only the last one may be cut to a little."""
    tried = [
        Experiment(f"p{n % 3}.{n}", f"{SOURCE}\nN = {n}\n", ("a row of it\n" * size)[:size], "", steps=7)
        for n, size in enumerate(sizes)
    ]
    tried.sort(key=lambda experiment: experiment.round)
    text = report.section(tried, room)
    parts = re.split(r"\n\n(?=p\d\.\d )", text)[1:]
    left_out = re.search(r"\((\d+) experiments? left out\.\)", text)
    assert len(parts) + (int(left_out[1]) if left_out else 0) == len(sizes) or not parts
    assert all(" more line" not in part or len(part) >= limits.SUMMARY // 2 for part in parts[:-1])


def test_failed_experiment_takes_one_line() -> None:
    """A declined one takes none."""
    dropped = Experiment("p0.1", SOURCE, "", "it crashed: line 3: KeyError", steps=7)
    assert report.section([dropped], 900).endswith(
        "p0.1 (0 episodes, 7 steps): Push to the left.\nNo report: it crashed: line 3: KeyError."
    )
    assert report.section([Experiment("p0.0", "", "", "none was wanted")], 900) == ""


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox shared by the tests of this module."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1"])
def test_example_runs(box: Sandbox, env_id: str) -> None:
    """It acts and reports in tasks of all common kinds."""
    env = gymnasium.make(env_id)
    source = example(env.observation_space, env.action_space)
    rollout = box.rollout(report.as_policy(source, 1), [env], [Trial(0, None, 60)], record=True)
    assert rollout.failure is None
    data = for_feedback_class(rollout.episodes[0], sees_all=True)
    result = box.call(source, "Probe.report", data)
    assert result.failure is None
    assert result.value
    assert f"after {len(data['rewards'])} steps" in result.value
    assert "action" in result.value or len(data["rewards"]) < 5  # Blackjack may end early


@pytest.mark.parametrize(
    "action",
    [spaces.MultiDiscrete([2, 3]), spaces.Box(2.0, 3.0, (2,)), spaces.Dict({"a": spaces.Discrete(2)})],
)
def test_example_passes_the_gate_for_any_action_space(action: Any) -> None:
    """It has a placeholder for actions that only the task can define."""
    assert check_source(example(spaces.Dict({"a": spaces.Discrete(2)}), action)) is None


POLICY = "```python\nclass Policy:\n    def act(self, obs):\n        return 1\n```\n"
PROBE = "```python\nclass Probe:\n    def act(self, obs):\n        return 0\n```\n"


def test_probes_and_policies_are_told_apart() -> None:
    """Neither stands in for the other, in any order."""
    for text in (POLICY + PROBE, PROBE + POLICY):
        assert "return 1" in answers.extract_program(text).source
        [module] = report.modules_in(text)
        assert "return 0" in module
    assert answers.extract_program(PROBE).problem == "no_code"
    assert answers.extract_program(PROBE.replace("return 0", "return (")).problem == "no_code"
    assert report.modules_in(POLICY) == ()
    assert len(report.modules_in(PROBE + PROBE.replace("0", "2") + PROBE)) == 2
    bare = PROBE.replace("```python\n", "").replace("```\n", "")
    assert len(report.modules_in(bare)) == 1


def test_module_with_probe_and_policy_is_not_preferred_as_policy() -> None:
    """Without another module, it is still the policy."""
    both = PROBE.replace(
        "class Probe", "class Policy:\n    def act(self, obs):\n        return 2\n\n\nclass Probe"
    )
    assert "return 1" in answers.extract_program(POLICY + both).source
    assert "return 2" in answers.extract_program(both).source
    (module,) = report.modules_in(POLICY + both)
    assert "rename it" in report.problem_of(module)


def test_section_states_how_episodes_ended() -> None:
    """A report may not expect terminations."""
    fell = Experiment("p0.1", SOURCE, "all went well", episodes=3, steps=471, ends=(119, 40))
    assert "p0.1 (3 episodes, 471 steps; 2 terminated, after 40 to 119 steps)" in report.section([fell], 900)
    once = Experiment("p0.1", SOURCE, "all went well", episodes=2, steps=471, ends=(119,))
    assert "471 steps; 1 terminated, after 119 steps)" in report.section([once], 900)
