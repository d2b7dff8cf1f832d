"""Sections of a later prompt: what each says, and how they are made to fit."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.core.history import History
from promptpo.prompts import limits, scores, sections
from promptpo.prompts.shortening import whole_lines
from tests.promptpo.prompts.examples import BEST, CRASHED, TUNABLE, attempt, known


def of(*attempts: Any, lasting: str = "", **more: Any) -> dict[str, str]:
    """All sections."""
    told = known(*attempts)
    for name, value in more.items():
        setattr(told.history, name, value)
    if lasting:
        told = replace(told, lasting={"notes": lambda room: whole_lines(lasting, room)})
    return sections.build_sections(told, "Do better.")


def test_every_section_has_its_place_and_its_limit() -> None:
    """Code and the request are whole; the rest is bounded, however much there is to say."""
    wordy = "\n".join(f"line {n} of many" for n in range(400))
    many = [
        replace(attempt(f"r2c{n}", 1.0 * n, 2.0, 3.0), prose=f"CHANGE: {wordy}", diagnosis=BEST.diagnosis)
        for n in range(4, 60)
    ]
    long = replace(BEST, diagnosis=replace(BEST.diagnosis, trace=wordy))
    found = of(*many, long, lasting=wordy)
    assert set(found) <= {*limits.SECTIONS, "program", "ceiling", "request"}
    for name, text in found.items():
        assert len(text) <= limits.SECTIONS.get(name, len(text)), name
    code = f"```python\n{BEST.candidate.source.strip()}\n```"
    assert code in found["program"]
    assert sum(map(len, found.values())) - len(code) <= limits.TOTAL


def test_a_ceiling_is_quoted_whole() -> None:
    """However long it is, once for all that say the same."""
    reason = "the lift cannot be faster than its motor " * 40
    found = of(ceiling_reasons=(reason, reason, "all is earned"), answers=4)
    assert found["ceiling"].count(reason) == 1
    assert found["ceiling"].startswith("3 of 4 answers in the last round saw no way to improve:")
    assert of()["ceiling"] == ""


def test_the_table_has_all_candidates_and_all_initial_states() -> None:
    """The best first, each with its difference to it over the starts that both played; failures at the end."""
    lines = of()["candidates"].splitlines()
    assert lines[2].startswith("Initial states: from r2c2t's worst to its best; v1, v2 ")
    assert [line.split("|")[0] for line in lines[4:]] == ["r2c2t", "r1c2", "r2c2", "r1c1", "r2c1", "r2c3"]
    assert lines[3].endswith("|3|v1|1|2")
    assert lines[4].endswith("|the best|20*|80|90*|110*")
    assert lines[-1] == "r2c3|crashed"


def test_the_table_explains_only_what_stands_in_it() -> None:
    """No stars, no fresh starts: no word of them."""
    plain = History([attempt("r1c1", 5.0, 5.0)], rounds=1)
    text = scores.render_scores(plain, plain.attempts[0])
    assert "*" not in text
    assert "v1" not in text


@pytest.mark.parametrize(("source", "told"), [(TUNABLE, False), ("class Policy: ...", True)])
def test_steps_for_tuning_that_nothing_would_take_are_told(source: str, told: bool) -> None:
    """Where the program that is shown declares no PARAMS, and steps are planned for tuning."""
    assert ("has no PARAMS" in of(attempt("r2c1", 9.0, 8.0, 7.0, source=source))["numbers"]) == told


def test_other_candidates_are_told_by_what_they_changed_and_how_they_failed() -> None:
    """In the words of their CHANGE line."""
    tried = replace(attempt("r2c5", 1.0, 2.0, 3.0), prose="Well.\nCHANGE: it leaned, so push earlier.\nMore.")
    text = of(BEST, tried, CRASHED)["others"]
    assert "- r2c5: it leaned, so push earlier." in text
    assert "- r2c3: crashed: line 3: IndexError: list index out of range. It tried: The idea of r2c3." in text


def test_a_long_error_leaves_room_for_the_others() -> None:
    """Whatever a program raises, the section tells of it, and of the program beside it."""
    long = replace(CRASHED, evaluation=replace(CRASHED.evaluation, error="ValueError: " + "# Task x " * 250))
    tried = replace(attempt("r2c5", 1.0, 2.0, 3.0), prose="CHANGE: it leaned, so push earlier.")
    text = of(BEST, long, tried)["others"]
    assert "- r2c3: crashed: ValueError: # Task x" in text
    assert "- r2c5: it leaned" in text


def test_rewards_of_steps_are_told_plainly() -> None:
    """The least and the most."""
    assert "Rewards per step have ranged from 0 to 0 so far." in of(earned=(0.0, 0.0))["where"]
    assert "Rewards per step have ranged from -1 to 3 so far." in of(earned=(-1.0, 3.0))["where"]


NAMES = st.sampled_from([*limits.SECTIONS, "program", "request"])


@given(st.dictionaries(NAMES, st.text("ab \n", max_size=300)), st.integers(0, 2000))
def test_sections_give_way_until_the_rest_fits(found: dict[str, str], bound: int) -> None:
    """In the order of the table; the request stays; what fits is left as it is."""
    kept = sections.drop_sections_to_fit(found, bound)
    whole = [text.strip() for text in found.values() if text.strip()]
    assert [text for text in whole if text in kept] == kept or len(set(whole)) < len(whole)
    if sum(len(text) + 2 for text in whole) <= bound:
        assert kept == whole
    elif request := found.get("request", "").strip():
        assert request in kept
