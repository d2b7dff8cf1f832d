"""Sections of a later prompt, and how they are made to fit."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.core.history import History
from promptpo.prompts import limits, scores, sections
from promptpo.prompts.shortening import whole_lines
from tests.promptpo.prompts.examples import BEST, CRASHED, TUNABLE, attempt, context


def build(*attempts: Any, lasting: str = "", **more: Any) -> dict[str, str]:
    """Return all sections."""
    prompt_context = context(*attempts)
    for name, value in more.items():
        setattr(prompt_context.history, name, value)
    if lasting:
        prompt_context = replace(prompt_context, lasting={"notes": lambda room: whole_lines(lasting, room)})
    return sections.build_sections(prompt_context, "Do better.")


def test_every_section_respects_its_limit() -> None:
    """Code and the request stay whole, however much there is to say."""
    wordy = "\n".join(f"line {n} of many" for n in range(400))
    many = [
        replace(attempt(f"r2c{n}", 1.0 * n, 2.0, 3.0), prose=f"CHANGE: {wordy}", diagnosis=BEST.diagnosis)
        for n in range(4, 60)
    ]
    long = replace(BEST, diagnosis=replace(BEST.diagnosis, trace=wordy))
    built = build(*many, long, lasting=wordy)
    assert set(built) <= {*limits.SECTIONS, "program", "ceiling", "request"}
    for name, text in built.items():
        assert len(text) <= limits.SECTIONS.get(name, len(text)), name
    code = f"```python\n{BEST.candidate.source.strip()}\n```"
    assert code in built["program"]
    assert sum(map(len, built.values())) - len(code) <= limits.TOTAL


def test_ceiling_reason_is_quoted_whole_and_once() -> None:
    reason = "the lift cannot be faster than its motor " * 40
    built = build(ceiling_reasons=(reason, reason, "all is earned"), answers=4)
    assert built["ceiling"].count(reason) == 1
    assert built["ceiling"].startswith("3 of 4 answers in the last round saw no way to improve:")
    assert build()["ceiling"] == ""


def test_table_has_all_candidates_and_initial_states() -> None:
    """The best comes first, each with its difference from it over shared initial states; failures come last."""
    lines = build()["candidates"].splitlines()
    assert lines[2].startswith("Initial states: from r2c2t's worst to its best; v1, v2 ")
    assert [line.split("|")[0] for line in lines[4:]] == ["r2c2t", "r1c2", "r2c2", "r1c1", "r2c1", "r2c3"]
    assert lines[3].endswith("|3|v1|1|2")
    assert lines[4].endswith("|the best|20*|80|90*|110*")
    assert lines[-1] == "r2c3|crashed"


def test_numbers_follow_the_program_they_describe() -> None:
    """Another candidate's code comes after them."""
    names = list(build())
    assert names[names.index("program") + 1] == "numbers"
    assert names.index("numbers") < names.index("program 1")


def test_other_candidates_state_what_they_may_gain() -> None:
    """A probability alone does not tell whether the difference matters."""
    near = attempt("r2c1", 90.0, 110.0, 20.5)
    built = build(BEST, near, attempt("r2c4", 90.5, 110.5, 20.0))
    gain = re.search(r"expected gain over \S+: (\S+)\)", built["program 1"])
    assert gain is not None
    assert 0 < float(gain[1]) < 1
    assert "expected gain" not in built["program"]


def test_table_explains_only_marks_that_it_uses() -> None:
    plain = History([attempt("r1c1", 5.0, 5.0)], rounds=1)
    text = scores.render_scores(plain, plain.attempts[0])
    assert "*" not in text
    assert "v1" not in text


@pytest.mark.parametrize(("source", "mentioned"), [(TUNABLE, False), ("class Policy: ...", True)])
def test_missing_params_are_mentioned_if_tuning_is_planned(source: str, mentioned: bool) -> None:
    assert ("has no PARAMS" in build(attempt("r2c1", 9.0, 8.0, 7.0, source=source))["numbers"]) == mentioned


def test_other_candidates_are_listed_by_change_and_failure() -> None:
    other = replace(attempt("r2c5", 1.0, 2.0, 3.0), prose="Well.\nCHANGE: it leaned, so push earlier.\nMore.")
    text = build(BEST, other, CRASHED)["others"]
    assert "- r2c5: it leaned, so push earlier." in text
    assert "- r2c3: crashed: line 3: IndexError: list index out of range. It tried: The idea of r2c3." in text


def test_long_error_leaves_room_for_other_candidates() -> None:
    long = replace(CRASHED, evaluation=replace(CRASHED.evaluation, error="ValueError: " + "# Task x " * 250))
    other = replace(attempt("r2c5", 1.0, 2.0, 3.0), prose="CHANGE: it leaned, so push earlier.")
    text = build(BEST, long, other)["others"]
    assert "- r2c3: crashed: ValueError: # Task x" in text
    assert "- r2c5: it leaned" in text


def test_range_of_step_rewards_is_stated() -> None:
    assert "Rewards per step have ranged from 0 to 0 so far." in build(earned=(0.0, 0.0))["where"]
    assert "Rewards per step have ranged from -1 to 3 so far." in build(earned=(-1.0, 3.0))["where"]


NAMES = st.sampled_from([*limits.SECTIONS, "program", "request"])


@given(st.dictionaries(NAMES, st.text("ab \n", max_size=300)), st.integers(0, 2000))
def test_sections_are_dropped_until_the_rest_fits(built: dict[str, str], bound: int) -> None:
    """They go in the order of the table; the request stays."""
    kept = sections.drop_sections_to_fit(built, bound)
    whole = [text.strip() for text in built.values() if text.strip()]
    assert [text for text in whole if text in kept] == kept or len(set(whole)) < len(whole)
    if sum(len(text) + 2 for text in whole) <= bound:
        assert kept == whole
    elif request := built.get("request", "").strip():
        assert request in kept
