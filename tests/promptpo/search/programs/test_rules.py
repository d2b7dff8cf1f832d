"""Decision lists: as text, varied, and as programs that run."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from promptpo.search.programs.genome import read_genome
from promptpo.search.programs.rule_writer import write_decisions
from promptpo.search.programs.rules import MOST_RULES, DecisionList, Grammar, Rule, read_rules
from sandbox import Sandbox, Trial, check_source
from tests.promptpo.search.programs.test_looking import scene_of
from tests.promptpo.search.programs.worlds import Courier, Lift, Room


@pytest.fixture(scope="module")
def box() -> Iterator[Any]:
    """One sandbox for all programs."""
    with Sandbox(allow_weaker=True) as sandbox:
        yield sandbox


def mean_return(box: Any, source: str, env: Any) -> float:
    assert check_source(source) is None
    returns = []
    for seed in range(100, 104):
        rollout = box.rollout(source, [env], [Trial(seed, None, 120)])
        assert rollout.failure is None, f"{rollout.failure}\n{source}"
        assert rollout.episodes[0].failure is None, f"{rollout.episodes[0].failure}\n{source}"
        returns.append(rollout.episodes[0].return_)
    return sum(returns) / len(returns)


@pytest.mark.parametrize("env", [Lift("flat"), Courier("levels"), Courier("board"), Room()], ids=str)
def test_random_lists_are_programs_that_run(box: Any, env: Any) -> None:
    """What the grammar makes passes the gate, acts to the end of an episode, says what it is and is read back."""
    scene = scene_of(env)
    grammar = Grammar(scene, random.Random(3))
    lists = list(grammar.first())[:3]
    for _ in range(12):
        lists.append(grammar.varied(lists[-1], lists[0]))
    for one in dict.fromkeys(lists):
        assert grammar.fits(one)
        assert len(one.rules) <= MOST_RULES
        source = write_decisions(one, scene)
        genome = read_genome(source)
        assert genome is not None
        assert genome.structure == "agent"
        assert source.startswith('"""A decision list')
        if one.rules:
            assert read_rules(source) == one
    mean_return(box, write_decisions(lists[-1], scene), env)


def test_a_list_that_serves_calls_does_it(box: Any) -> None:
    """Close the door, else go to the nearest call and open there: well above any constant action."""
    scene = scene_of(Lift("levels"))
    rules = (Rule(((scene.modes[0].name, "==", 1),), act=3), Rule((), scene.targets[0].name, act=2))
    assert mean_return(box, write_decisions(DecisionList(rules), scene), Lift("levels")) > 5.0


def test_what_the_own_mark_hides_is_remembered(box: Any) -> None:
    """On a board the parcel is not seen once the courier stands on it; it is picked up all the same."""
    scene = scene_of(Courier("board"))
    parcel, door = (next(t.name for t in scene.targets if t.name.endswith(n)) for n in ("_2", "_3"))
    rules = (Rule((), parcel, act=4), Rule((), door, act=5))
    assert mean_return(box, write_decisions(DecisionList(rules), scene), Courier("board")) > 4.0


def test_a_map_of_ones_own_finds_the_lever_and_the_prize(box: Any) -> None:
    """Explore, face the lever, pull it, then walk onto what is new or known as a thing."""
    scene = scene_of(Room())
    rules = (Rule((), "thing_3", act=3), Rule((), "thing_4"), Rule((), "new_things"))
    fitting = tuple(rule for rule in rules if rule.target in {t.name for t in scene.targets})
    assert mean_return(box, write_decisions(DecisionList(fitting), scene), Room()) == 1.0


def test_lists_about_what_is_not_there_do_not_fit() -> None:
    """Rules of an earlier program that speak of other names are not used."""
    grammar = Grammar(scene_of(Lift("dict")), random.Random(0))
    assert grammar.fits(DecisionList((Rule((("open", "==", 1),), "inside", act=2),)))
    assert not grammar.fits(DecisionList((Rule((), "elsewhere", act=2),)))
    assert not grammar.fits(DecisionList((Rule((("nothing", "==", 1),), act=2),)))


def test_other_programs_tell_no_rules() -> None:
    """Comments of strangers are no rules."""
    assert read_rules("# Rule: __import__('os')\n# Rule: 'explore'\n") is None
    assert read_rules("class Policy:\n    pass\n") is None
