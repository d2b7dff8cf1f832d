"""One race: shared starts decide, and who leads loses its place only to one that is better on them."""

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.run.evidence import Evidence
from promptpo.search.racing import Change, Course, Race, race

RECORDED = json.loads(Path(__file__).with_name("champions.json").read_text(encoding="utf-8"))
"""Of three runs: by round (the last looks are one too), by candidate, the return on each start it played."""


def episodes(returns: Mapping[str, float]) -> list[EpisodeRecord]:
    """Recorded returns, as episodes of ten steps."""
    return [EpisodeRecord(int(seed), value, 10) for seed, value in returns.items()]


def raced(rounds: Sequence[Mapping[str, Mapping[str, float]]]) -> list[Change | None]:
    """What changes in front, round by round, by the episodes that were played."""
    known: dict[str, Evidence] = {}
    champion, changes = "", []
    for each in rounds:
        for name, returns in each.items():
            known[name] = Evidence.of(known.get(name, Evidence()).episodes, episodes(returns))
        arms = [champion, *each] if champion else list(each)
        found = Race({name: known[name] for name in arms}, Course((), 1), champion=champion)
        champion = found.front
        changes.append(found.change)
    return changes


def test_a_run_on_noise_keeps_the_champion_that_nobody_beat() -> None:
    """Each round of a lift's run took fresh starts; what led by their luck is not better on those that both played."""
    first, *others = raced(RECORDED["elevator"])
    assert first is not None
    assert first.new in {"r1c1", "r2c1"}
    assert others == [None] * 4


@pytest.mark.parametrize("task", ["fourrooms", "reservoir"])
def test_every_change_is_a_lead_beyond_noise_on_shared_starts(task: str) -> None:
    """And is said in one line with that difference."""
    changes = [change for change in raced(RECORDED[task])[1:] if change]
    assert changes
    for change in changes:
        assert change.difference.mean > change.difference.standard_error
        assert f"{change.new} takes the lead from {change.old}: +" in str(change)
        assert f"on the {len(change.difference.returns)} starts that both played" in str(change)


class Field:
    """Policies whose return is a quality, the luck of a start that all share, and noise of their own."""

    def __init__(self, **qualities: float) -> None:
        self.qualities, self.played = qualities, dict.fromkeys(qualities, 0)

    def episode(self, name: str, seed: int, noise: float = 5.0) -> EpisodeRecord:
        """Ten steps."""
        luck = random.Random(seed).uniform(-50, 50) + random.Random(f"{name}{seed}").gauss(0, noise)
        return EpisodeRecord(seed, self.qualities[name] + luck, 10)

    def run(self, champion: str = "", **limits: object) -> Race:
        """A race of all of them, each with five starts played already."""
        arms = {name: Evidence(tuple(self.episode(name, s) for s in range(5))) for name in self.qualities}
        found = Race(arms, Course(range(100, 120), 5, **limits), champion=champion)
        while wanted := found.ask():
            for name, seeds in wanted.items():
                self.played[name] += len(seeds)
            found.tell({name: [self.episode(name, s) for s in seeds] for name, seeds in wanted.items()})
        return found


def test_the_clearly_worse_cost_nothing_and_the_close_play_on() -> None:
    """Steps go where the order is open."""
    field = Field(a=100, b=101, poor=-200)
    field.run()
    assert field.played["poor"] == 0
    assert field.played["a"] == field.played["b"] >= 10


def test_a_challenger_plays_the_starts_that_the_champion_has_played() -> None:
    """Which cost nothing more of the champion."""
    field = Field(champion=100, new=102)
    known = [field.episode("champion", s) for s in (*range(5), *range(100, 110))]
    arms = {
        "champion": Evidence(tuple(known)),
        "new": Evidence(tuple(field.episode("new", s) for s in range(5))),
    }
    assert Race(arms, Course(range(100, 120), 5), champion="champion").ask() == {
        "new": tuple(range(100, 105))
    }


def test_a_race_costs_no_more_than_its_steps_but_for_the_first_block() -> None:
    """A block that the rest does not pay for is not begun."""
    field = Field(a=100, b=100.5)
    field.run(steps=150, first=True)
    assert field.played == {"a": 5, "b": 5}
    field = Field(a=100, b=100.5)
    field.run(steps=90)
    assert field.played == {"a": 0, "b": 0}


def test_what_fails_loses_its_place() -> None:
    """A champion without a finite return is replaced, whatever it has earned."""
    field = Field(a=100, b=50)
    arms = {name: Evidence(tuple(field.episode(name, s) for s in range(5))) for name in "ab"}
    found = Race(arms, Course(range(9, 12), 3, first=True), champion="a")
    assert found.ask() == {"a": (9, 10, 11)}  # the other is out
    found = Race({**arms, "b": arms["a"]}, Course(range(9, 12), 3), champion="a")
    found.tell({"a": [EpisodeRecord(9, float("nan"), 10)], "b": [EpisodeRecord(9, 1.0, 10)]})
    assert found.front == "b"
    assert found.change is not None


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_nobody_that_is_clearly_better_is_left_behind(seed: int, count: int) -> None:
    """Whatever the order, on what they share nobody beats the one in front beyond noise."""
    dice = random.Random(seed)
    field = Field(**{f"p{i}{seed}": dice.uniform(0, 20) for i in range(count)})
    found = field.run(champion=dice.choice([*field.qualities, ""]))
    for other in found.alive:
        assert found.evidence[other].against(found.evidence[found.front]).verdict <= 0


def test_a_race_is_driven_by_whoever_plays() -> None:
    """The same race where episodes are waited for."""
    field = Field(a=100, b=140)

    async def play(wanted: Mapping[str, Sequence[int]]) -> dict[str, list[EpisodeRecord]]:
        return {name: [field.episode(name, s) for s in seeds] for name, seeds in wanted.items()}

    arms = {name: Evidence() for name in "ab"}
    assert asyncio.run(race(Race(arms, Course(range(20), 5, first=True)), play)).front == "b"
