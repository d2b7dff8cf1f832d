"""Candidate ids: parsing, formatting and the islands derived from them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.core.candidate import Attempt, Candidate, CandidateId
from promptpo.recipes.evolve import island_of
from promptpo.rollouts.evaluation import Evaluation


@given(
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.one_of(
        st.just(""), st.builds(str.__add__, st.sampled_from("atz"), st.text(list("atz019"), max_size=5))
    ),
)
def test_candidate_id_round_trips(round_: int, slot: int, suffix: str) -> None:
    """Ids order by round and slot."""
    id_ = CandidateId(round_, slot, suffix)
    assert CandidateId.parse(str(id_)) == id_
    assert id_ < CandidateId(round_, slot + 1, suffix) < CandidateId(round_ + 1, 0)
    assert id_.is_tuned == bool(re.search(r"t\d*$", suffix))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s1",
        "zero",
        "r1",
        "rc",
        "r1c",
        "c1",
        "r1c2.t",
        "r1c2 ",
        "r-1c2",
        "r1c2T",
        "r²c1",
        "teacher",
        "p0.1",
        "r1c1\n",
    ],
)
def test_other_ids_are_not_parsed(text: str) -> None:
    """Features, references and experiments have ids of their own."""
    assert CandidateId.parse(text) is None


@pytest.mark.parametrize(
    ("id_", "island"),
    [
        ("r1c1", 0),
        ("r1c2", 1),
        ("r3c4t", 0),
        ("r3c4tt", 0),
        ("r1c2t5", 1),
        ("r2c11", 1),
        ("r1c3", 2),
        ("s1", 0),
    ],
)
def test_island_follows_from_the_id(id_: str, island: int) -> None:
    """Tuned candidates share their parent's island; those of features get the first."""
    attempt = Attempt(Candidate(id_, "", 1), Evaluation("ok", (), 0))
    assert island_of(attempt) == island
