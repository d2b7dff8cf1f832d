"""Checks and messages before a run begins."""

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from promptpo import api
from promptpo.api import new_session
from promptpo.cli.app import run as command_line
from promptpo.core.config import Budget, Config
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.llm.base import ALL_PURPOSES
from promptpo.llm.choose import make_models
from promptpo.llm.ensemble import EnsembleLLM
from promptpo.llm.inbox import InboxLLM
from promptpo.llm.prices import Price
from promptpo.llm.scripted import ScriptedLLM
from promptpo.run.checking import check_model
from promptpo.run.preflight import RECORDED, RECORDED_FROM
from promptpo.session.setup import load_spec
from promptpo.spec import TaskSpec
from promptpo.spec.describe import describe
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import WEAK

CARTPOLE = Config(Task("CartPole-v1"), model="search")


class Priced(ScriptedLLM):
    """A model whose price is known."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.capabilities = replace(self.capabilities, price=Price(3.0, 15.0))


def ahead(config: Any = CARTPOLE, **budget: Any) -> Any:
    """The estimate with this budget."""
    model = Model()
    found = new_session(
        replace(config, budget=replace(config.budget, **budget)), llm=Priced(model)
    ).estimate()
    assert not model.requests
    return found


def test_an_estimate_says_where_the_limit_comes_from_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--estimate` tells limit, division, calls and time, exits with 0, and leaves no run and no call behind."""
    monkeypatch.chdir(tmp_path)
    assert command_line(["optimize", "CartPole-v1", "--model", "search", "--estimate"]) == 0
    said = capsys.readouterr().out
    assert "at most 500 steps (the environment's registered time limit)" in said
    assert "10,000    2%  try each policy" in said
    assert "Time: about" in said
    assert not list(tmp_path.iterdir())
    assert command_line(["optimize", "CartPole-v1", "--model", "search", "--estimate", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["horizon"] == 500
    assert found["evaluation_fits"] is True
    assert found["steps_per_second"] > 0


def test_what_a_model_costs_is_known_without_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No client is built for an estimate; the list's price holds for the service itself, another address has none."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "ANTHROPIC_BASE_URL",
        "PROMPTPO_MODEL",
        "PROMPTPO_PRICES",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        "promptpo.llm.sdk.SDKProvider._key", property(lambda _: pytest.fail("a client is built"))
    )
    asked = [
        "optimize",
        "CartPole-v1",
        "--estimate",
        "--no-check",
        "--json",
        "--model",
        "anthropic:claude-sonnet-4-5",
    ]
    assert command_line(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["calls"] > 20
    assert found["usd"] > 0.5
    assert command_line([*asked, "--base-url", "http://127.0.0.1:9/v1"]) == 0
    assert json.loads(capsys.readouterr().out)["usd"] is None
    assert command_line([*asked, "--base-url", "http://127.0.0.1:9/v1", "--price", "0,0"]) == 0
    assert json.loads(capsys.readouterr().out)["usd"] == 0.0
    several = [
        *asked,
        "--model",
        "openai:gpt-4o",
        "--repair-model",
        "openai:gpt-4o-mini",
        "--effort",
        "low",
    ]
    assert command_line(several) == 0
    assert not list(tmp_path.iterdir())


def test_calls_are_a_bound_and_dollars_are_as_recorded() -> None:
    """Every policy asked for twice and repaired twice, and the feedback class; limits lower both."""
    found = ahead()
    assert found.calls == 5 * 4 * 4 + 3
    assert found.usd == pytest.approx(found.calls * (2_700 * 3 + 840 * 15) / 1e6)
    assert ahead(calls=7).calls == 7
    assert ahead(usd=0.5).usd == 0.5


def test_several_models_are_priced_by_name_and_the_dearest_is_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file states the price of any model by its name, of commands too; of several, those without one are named."""
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."exec:cat"]\ninput = 10\noutput = 100\n')
    monkeypatch.setenv("PROMPTPO_PRICES", str(prices))
    limited = replace(CARTPOLE, budget=Budget(usd=100.0))
    check_model(limited, make_models(None, ["exec:cat"]))
    with pytest.raises(UsageError, match="exec:wc, whose price") as refused:
        check_model(limited, make_models(None, ["exec:cat", "exec:wc"]))
    assert "exec:cat" not in str(refused.value)
    assert "PROMPTPO_PRICES" in str(refused.value)
    prices.write_text(prices.read_text() + '[models."exec:wc"]\ninput = 20\noutput = 100\n')
    models = make_models(None, ["exec:cat", "exec:wc"])
    check_model(limited, models)
    found = new_session(CARTPOLE, llm=models).estimate()
    assert found.usd == pytest.approx(found.calls * (2_700 * 20 + 840 * 100) / 1e6)


def test_a_replay_costs_nothing(tmp_path: Path) -> None:
    """Recorded answers have a known price, none."""
    model = Model()
    run = optimize(model, tmp_path / "run", rounds=1, candidates=1)
    found = new_session(replace(CARTPOLE, model=f"replay:{run.directory}")).estimate()
    assert found.calls
    assert found.usd == 0.0


def test_what_recorded_calls_took_is_told() -> None:
    """With where it is recorded, the price of as many, and what limits it."""
    found = ahead()
    (line,) = [line for line in found.lines() if line.startswith("Model:")]
    assert {"2,700", "840"} <= set(line.split())
    assert f"${found.usd:.2f}" in line
    assert "--max-usd" in line
    assert "price is unknown" in next(
        line
        for line in new_session(CARTPOLE, llm=InboxLLM("box")).estimate().lines()
        if line.startswith("Model:")
    )


def test_what_recorded_calls_took_is_what_the_recordings_say() -> None:
    """The medians of the runs with the default recipe, to two places."""
    folder = Path(__file__).parents[3] / "benchmarks" / "results" / "proof" / "recordings"
    given, written = [], []
    for path in sorted(folder.glob("*--promptpo--seed-*.jsonl.xz")):
        rows = [json.loads(line) for line in lzma.decompress(path.read_bytes()).decode().splitlines()]
        usage = [row["data"]["usage"] for row in rows if row["kind"] == "completion"]
        given.append(np.mean([one["input_tokens"] for one in usage]))
        written.append(np.mean([one["output_tokens"] for one in usage]))
    assert f"{len(given)} recorded runs" in RECORDED_FROM
    assert round(float(np.median(given)), -2) == RECORDED.input_tokens
    assert round(float(np.median(written)), -1) == RECORDED.output_tokens


def test_experiments_are_part_of_an_estimate() -> None:
    """One request, a repair for each of the six that a run may make, and their steps, within a twentieth of the budget."""

    def of(**settings: Any) -> Any:
        llm = Priced(Model(), purposes=ALL_PURPOSES)
        return new_session(replace(CARTPOLE, **settings), llm=llm).estimate()

    found = of()
    assert found.calls == 5 * 4 * 4 + 3 + 1 + 6
    assert found.division["probe"] == 6000
    assert any("6,000    1%  run experiments" in line for line in found.lines())
    assert of(repairs=0).calls == 5 * 4 * 2 + 1 + 1
    without = of(recipe_options={"probe": False})
    assert without.calls == 5 * 4 * 4 + 3
    assert "probe" not in without.division
    assert not any("run experiments" in line for line in without.lines())


def test_a_budget_that_pays_for_no_evaluation_is_told() -> None:
    """With fewer steps than one policy may take, the line says so and what to change."""
    found = ahead(steps=1000)
    assert not found.fits
    assert any("one full evaluation" in line and "--max-steps" in line for line in found.lines())
    tight = ahead(steps=20_000)
    assert tight.fits
    assert any("may not suffice for all rounds" in line for line in tight.lines())


@pytest.mark.slow
def test_a_limit_of_the_user_or_none_is_told() -> None:
    """Who bounds the episodes is in the first line."""
    limited = ahead(replace(CARTPOLE, task=Task("CartPole-v1", {}, 77)))
    assert limited.lines()[0] == "Episodes: at most 77 steps (--max-episode-steps)."
    endless = ahead(replace(CARTPOLE, task=Task("tests.environments:Test/Endless-v0")))
    assert "--max-episode-steps" in endless.lines()[0]


def test_a_result_has_what_was_said_before(tmp_path: Path) -> None:
    """`result.json` keeps the preflight."""
    run = optimize(Model(default=WEAK), tmp_path / "run", rounds=1, candidates=1)
    assert run.data["preflight"]["horizon"] == 100
    assert run.data["preflight"]["evaluation_fits"]


@pytest.fixture(scope="module")
def unnamed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Task]:
    """An environment whose author says nothing of it, not even what is rewarded; it is looked at once in each way."""
    file = tmp_path_factory.mktemp("unnamed") / "long.py"
    file.write_text(LONG.format(limit="pass"))
    known: dict[str, TaskSpec] = {}

    def describe_once(task: Task, **how: Any) -> TaskSpec:
        asked = repr((task, how))
        if asked not in known:
            known[asked] = describe(task, **how)
        return known[asked]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo.spec.describe.describe", describe_once)
        yield Task(f"{file}:Env")


@pytest.mark.parametrize(
    ("model", "reveal"),
    [
        ("replay:answers.jsonl", "source"),
        ("replay:answers.jsonl", "named"),
        ("inbox:inbox", "named"),
        ("exec:cat", "source"),
        ("search", "source"),
        ("elsewhere", "named"),
        ("both", "named"),
        ("ollama:m", "source"),
        ("openai:m", "source"),
        ("openai:m", "named"),
    ],
)
def test_a_source_goes_to_a_provider_only_where_it_leaves(
    unnamed: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, reveal: Any
) -> None:
    """Recorded answers, files, the user's own program, local servers and program search send nothing anywhere."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.chdir(tmp_path)
    Path("answers.jsonl").write_text(json.dumps({"text": WEAK}))
    elsewhere = ScriptedLLM([], purposes=ALL_PURPOSES)
    given = {"elsewhere": elsewhere, "both": EnsembleLLM([InboxLLM("inbox"), elsewhere])}.get(model)
    config = Config(unnamed, model=None if given else model, reveal=reveal)
    found = new_session(config, llm=given).estimate()
    for lines in (found.brief(), found.lines()):
        said = " ".join(lines)
        assert ("is sent to the model's provider" in said) == (given is not None or model == "openai:m")
        reads = model != "search" and (reveal == "source" or not model.startswith("replay"))
        assert ("The environment's source" in said) == reads
        assert "{" not in said


def test_validation_episodes_are_told_as_they_are_played() -> None:
    """They are of a round and of each that may be the best, at most; one is no episodes."""
    text = " ".join(ahead(replace(CARTPOLE, validation_episodes=1, test_episodes=1)).lines())
    assert "up to 1 validation episode per round" in text
    assert "1 test episode for the best" in text
    found = ahead(replace(CARTPOLE, validation_episodes=4), rounds=3)
    assert (
        found.division["validation"] == (3 * 2 + 2) * 4 * 500
    )  # two of each round, and the leader from the second on


LONG = """
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Env(gym.Env):
    def __init__(self):
        self.observation_space = spaces.Box(-9, 9, (2,), np.float32)
        self.action_space = spaces.Discrete(3)
        {limit}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n = 0
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), {{}}

    def step(self, action):
        self.n += 1
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), 0.0, False, self.n >= 3000, {{}}
"""


@pytest.mark.parametrize("limit", ["self.max_steps = 3000", "pass"])
@pytest.mark.parametrize("steps", [400, 2000, 4000])
@pytest.mark.parametrize("read", [False, True])
def test_looking_at_a_task_takes_a_tenth_of_the_steps(
    tmp_path: Path, limit: str, steps: int, read: bool
) -> None:
    """Whatever its episodes are like, and who writes the policies."""
    (tmp_path / "long.py").write_text(LONG.format(limit=limit))
    config = Config(Task(f"{tmp_path / 'long.py'}:Env"), budget=Budget(steps=steps))
    assert load_spec(config, read=read).sample_steps <= max(100, 0.13 * steps)


@pytest.mark.parametrize("steps", [100, 500, 4000])
def test_no_model_is_asked_where_the_steps_pay_for_no_evaluation(tmp_path: Path, steps: int) -> None:
    """The sentence says how many would, however few of them the look at an episode took."""
    (tmp_path / "long.py").write_text(LONG.format(limit="self.max_steps = 3000"))
    with pytest.raises(UsageError, match=r"are too few.*--max-steps 18000"):
        api.optimize(
            f"{tmp_path / 'long.py'}:Env", llm=ScriptedLLM([]), max_steps=steps, out=tmp_path / "run"
        )
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("horizon", [20, 500, 5_000, None])
def test_no_part_of_the_steps_is_more_than_all(horizon: int | None) -> None:
    """However long episodes may be: where every round cannot be paid for, that is said in place of parts."""
    first = ahead()
    for steps in (1_000, 20_000, 500_000, 5_000_000):
        budget = replace(first.config.budget, steps=steps)
        found = replace(
            first,
            spec=replace(first.spec, horizon=horizon, sample_rate=1e5),
            config=replace(first.config, budget=budget),
        )
        said = "\n".join(found.lines())
        shares = [int(share) for share in re.findall(r"(\d+)%  ", said)]
        assert sum(shares) <= 102  # each is rounded
        assert shares or "may not suffice for" in said
        assert "10 min" not in said  # the test's episodes are among all that the time is for
