"""ICPI learns with an engine that knows the rules, and does not with one that only copies."""

import statistics
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from promptpo_baselines.icpi.assembly import assemble
from promptpo_baselines.icpi.play import last_quarter, train
from promptpo_baselines.icpi.setting import setting_for
from tests.baselines.icpi.engines import LookupEngine
from tests.baselines.icpi.worlds import FAST, PAPER, oracle


def late_regret(name: str, profile: Any, seeds: Any, make_engine: Callable[[Any, int], Any] = oracle) -> Any:
    """Return the mean regret in the last quarter of the paper's steps, over seeds."""
    setting = setting_for(f"promptpo/{name}-v0")
    assert setting.domain is not None
    steps = setting.domain.figure_steps
    regrets = []
    for seed in seeds:
        agent = assemble(setting, "icpi", profile, engine=make_engine(setting, seed), seed=seed)
        regret = last_quarter(list(train(setting, agent, steps, seed)), steps)
        assert regret is not None
        regrets.append(regret)
    return statistics.fmean(regrets)


@pytest.mark.slow
@pytest.mark.parametrize(
    "profile", [pytest.param(PAPER, marks=pytest.mark.slow), FAST], ids=["paper", "fast"]
)
def test_chain_is_learned(profile: Any) -> None:
    """This holds for the paper's settings and for the fast ones."""
    assert late_regret("Chain", profile, range(4)) <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "profile", "most", "seeds"),
    [
        ("DistractorChain", PAPER, 0.20, 4),
        ("Maze", PAPER, 0.06, 4),
        ("MiniCatch", FAST, 0.15, 2),
        ("MiniInvaders", FAST, 0.40, 2),
        ("PointMass", PAPER, 0.08, 2),
    ],
)
def test_other_domains_are_learned(name: str, profile: Any, most: Any, seeds: int) -> None:
    """Late regret is far below that of an engine that only copies."""
    assert late_regret(name, profile, range(seeds)) <= most


@pytest.mark.parametrize(("name", "least"), [("DistractorChain", 0.35), ("PointMass", 0.30)])
def test_copying_engine_does_not_learn(name: str, least: Any) -> None:
    """Copying does not generalise."""
    assert late_regret(name, PAPER, range(2), lambda setting, _: LookupEngine(setting.codec)) >= least


def test_random_rollouts_improve_no_policy() -> None:
    """A negative control."""
    assert late_regret("Chain", replace(PAPER, randomize=["policy"]), range(2)) >= 0.18


def test_random_actions_do_not_learn() -> None:
    """Their regret is where the learning curves start."""
    setting = setting_for("promptpo/Chain-v0")
    logs = list(train(setting, assemble(setting, "random", PAPER, seed=0), 2000, 0))
    assert statistics.fmean(log.regret for log in logs if log.regret is not None) > 0.5
