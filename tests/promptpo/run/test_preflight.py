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
from promptpo.api import make_config, new_session
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
from promptpo.run.preflight import RECORDED, RECORDED_FROM, Preflight
from promptpo.session.setup import load_spec
from promptpo.spec import TaskSpec
from promptpo.spec.describe import describe
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import WEAK

CARTPOLE = Config(Task("CartPole-v1"), model="search")


class PricedLLM(ScriptedLLM):
    """A scripted model with a known price."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.capabilities = replace(self.capabilities, price=Price(3.0, 15.0))


def estimate(config: Any = CARTPOLE, **budget: Any) -> Any:
    """Return the estimate of a run with this budget."""
    model = Model()
    result = new_session(
        replace(config, budget=replace(config.budget, **budget)), llm=PricedLLM(model)
    ).estimate()
    assert not model.requests
    return result


def test_estimate_prints_limits_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It makes no call and exits with 0."""
    monkeypatch.chdir(tmp_path)
    assert command_line(["optimize", "CartPole-v1", "--model", "search", "--estimate"]) == 0
    out = capsys.readouterr().out
    assert "at most 500 steps (the environment's registered time limit)" in out
    assert "10,000    2%  try each policy" in out
    assert "Time: about" in out
    assert not list(tmp_path.iterdir())
    assert command_line(["optimize", "CartPole-v1", "--model", "search", "--estimate", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["horizon"] == 500
    assert report["evaluation_fits"] is True
    assert report["steps_per_second"] > 0


def test_estimate_needs_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No client is built; list prices apply only to the service's own address."""
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
    arguments = [
        "optimize",
        "CartPole-v1",
        "--estimate",
        "--no-check",
        "--json",
        "--model",
        "anthropic:claude-sonnet-4-5",
    ]
    assert command_line(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["calls"] > 20
    assert report["usd"] > 0.5
    assert command_line([*arguments, "--base-url", "http://127.0.0.1:9/v1"]) == 0
    assert json.loads(capsys.readouterr().out)["usd"] is None
    assert command_line([*arguments, "--base-url", "http://127.0.0.1:9/v1", "--price", "0,0"]) == 0
    assert json.loads(capsys.readouterr().out)["usd"] == 0.0
    several = [
        *arguments,
        "--model",
        "openai:gpt-4o",
        "--repair-model",
        "openai:gpt-4o-mini",
        "--effort",
        "low",
    ]
    assert command_line(several) == 0
    assert not list(tmp_path.iterdir())


def test_estimate_bounds_calls_and_prices_them_as_recorded() -> None:
    """Every policy requested twice and repaired twice, plus the feedback class; limits lower both."""
    result = estimate()
    assert result.calls == 5 * 4 * 4 + 3
    assert result.usd == pytest.approx(result.calls * (2_700 * 3 + 840 * 15) / 1e6)
    assert estimate(calls=7).calls == 7
    assert estimate(usd=0.5).usd == 0.5


def test_estimate_uses_the_most_expensive_of_several_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file states prices by name, also of commands; models without a price are named."""
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
    result = new_session(CARTPOLE, llm=models).estimate()
    assert result.usd == pytest.approx(result.calls * (2_700 * 20 + 840 * 100) / 1e6)


def test_replay_costs_nothing(tmp_path: Path) -> None:
    model = Model()
    run = optimize(model, tmp_path / "run", rounds=1, candidates=1)
    result = new_session(replace(CARTPOLE, model=f"replay:{run.directory}")).estimate()
    assert result.calls
    assert result.usd == 0.0


def test_estimate_prints_tokens_price_and_limit() -> None:
    result = estimate()
    (line,) = [line for line in result.lines() if line.startswith("Model:")]
    assert {"2,700", "840"} <= set(line.split())
    assert f"${result.usd:.2f}" in line
    assert "--max-usd" in line
    assert "price is unknown" in next(
        line
        for line in new_session(CARTPOLE, llm=InboxLLM("box")).estimate().lines()
        if line.startswith("Model:")
    )


def test_recorded_token_counts_match_the_recordings() -> None:
    """Medians over the runs with the default recipe, rounded to two digits."""
    folder = Path(__file__).parents[3] / "benchmarks" / "results" / "proof" / "recordings"
    inputs, outputs = [], []
    for path in sorted(folder.glob("*--promptpo--seed-*.jsonl.xz")):
        rows = [json.loads(line) for line in lzma.decompress(path.read_bytes()).decode().splitlines()]
        usage = [row["data"]["usage"] for row in rows if row["kind"] == "completion"]
        inputs.append(np.mean([one["input_tokens"] for one in usage]))
        outputs.append(np.mean([one["output_tokens"] for one in usage]))
    assert f"{len(inputs)} recorded runs" in RECORDED_FROM
    assert round(float(np.median(inputs)), -2) == RECORDED.input_tokens
    assert round(float(np.median(outputs)), -1) == RECORDED.output_tokens


def test_experiments_are_part_of_an_estimate() -> None:
    """One request, a repair for each of six experiments, and up to a twentieth of the step budget."""

    def estimate_with(**settings: Any) -> Any:
        llm = PricedLLM(Model(), purposes=ALL_PURPOSES)
        return new_session(replace(CARTPOLE, **settings), llm=llm).estimate()

    result = estimate_with()
    assert result.calls == 5 * 4 * 4 + 3 + 1 + 6
    assert result.division["probe"] == 6000
    assert any("6,000    1%  run experiments" in line for line in result.lines())
    assert estimate_with(repairs=0).calls == 5 * 4 * 2 + 1 + 1
    without = estimate_with(recipe_options={"probe": False})
    assert without.calls == 5 * 4 * 4 + 3
    assert "probe" not in without.division
    assert not any("run experiments" in line for line in without.lines())


def test_budget_below_one_evaluation_is_reported() -> None:
    """The line says which flag to change."""
    result = estimate(steps=1000)
    assert not result.fits
    assert any("one full evaluation" in line and "--max-steps" in line for line in result.lines())
    tight = estimate(steps=20_000)
    assert tight.fits
    assert any("may not suffice for all rounds" in line for line in tight.lines())


@pytest.mark.slow
def test_origin_of_the_time_limit_is_stated() -> None:
    limited = estimate(replace(CARTPOLE, task=Task("CartPole-v1", {}, 77)))
    assert limited.lines()[0] == "Episodes: at most 77 steps (--max-episode-steps)."
    endless = estimate(replace(CARTPOLE, task=Task("tests.environments:Test/Endless-v0")))
    assert "--max-episode-steps" in endless.lines()[0]


def test_result_contains_the_preflight(tmp_path: Path) -> None:
    run = optimize(Model(default=WEAK), tmp_path / "run", rounds=1, candidates=1)
    assert run.data["preflight"]["horizon"] == 100
    assert run.data["preflight"]["evaluation_fits"]


@pytest.fixture(scope="module")
def undocumented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Task]:
    """An environment without any documentation; each kind of description is made once."""
    file = tmp_path_factory.mktemp("unnamed") / "long.py"
    file.write_text(LONG.format(limit="pass"))
    specs: dict[str, TaskSpec] = {}

    def describe_once(task: Task, **how: Any) -> TaskSpec:
        key = repr((task, how))
        if key not in specs:
            specs[key] = describe(task, **how)
        return specs[key]

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
def test_sending_the_source_is_announced_only_for_remote_models(
    undocumented: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, reveal: Any
) -> None:
    """Recordings, files, the user's own program, local servers and program search send it nowhere."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.chdir(tmp_path)
    Path("answers.jsonl").write_text(json.dumps({"text": WEAK}))
    elsewhere = ScriptedLLM([], purposes=ALL_PURPOSES)
    llm = {"elsewhere": elsewhere, "both": EnsembleLLM([InboxLLM("inbox"), elsewhere])}.get(model)
    config = Config(undocumented, model=None if llm else model, reveal=reveal)
    result = new_session(config, llm=llm).estimate()
    for lines in (result.brief(), result.lines()):
        text = " ".join(lines)
        assert ("is sent to the model's provider" in text) == (llm is not None or model == "openai:m")
        reads = model != "search" and (reveal == "source" or not model.startswith("replay"))
        assert ("The environment's source" in text) == reads
        assert "{" not in text


def test_numbers_of_validation_episodes_are_upper_bounds() -> None:
    """The number is per round and candidate for the best."""
    text = " ".join(estimate(replace(CARTPOLE, validation_episodes=1, test_episodes=1)).lines())
    assert "up to 1 validation episode per round" in text
    assert "1 test episode for the best" in text
    result = estimate(replace(CARTPOLE, validation_episodes=4), rounds=3)
    assert (
        result.division["validation"] == (3 * 2 + 2) * 4 * 500
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
def test_describing_a_task_takes_a_tenth_of_the_steps(
    tmp_path: Path, limit: str, steps: int, read: bool
) -> None:
    """Whatever the length of its episodes, with a model and without."""
    (tmp_path / "long.py").write_text(LONG.format(limit=limit))
    config = Config(Task(f"{tmp_path / 'long.py'}:Env"), budget=Budget(steps=steps))
    assert load_spec(config, read=read).sample_steps <= max(100, 0.13 * steps)


@pytest.mark.parametrize("steps", [100, 500, 4000])
def test_too_few_steps_for_an_evaluation_are_refused(tmp_path: Path, steps: int) -> None:
    """The sentence states a sufficient number, and no model is asked."""
    (tmp_path / "long.py").write_text(LONG.format(limit="self.max_steps = 3000"))
    with pytest.raises(UsageError, match=r"are too few.*--max-steps 18000"):
        api.optimize(
            f"{tmp_path / 'long.py'}:Env", llm=ScriptedLLM([]), max_steps=steps, out=tmp_path / "run"
        )
    assert not (tmp_path / "run").exists()


def test_sufficient_steps_include_those_that_describe_the_task() -> None:
    """With the number that the sentence states, the run is no longer refused."""
    config = make_config(Task("CartPole-v1", max_episode_steps=10), {"max_steps": 50, "episodes": 2})
    refusal = Preflight(load_spec(config), config, ScriptedLLM([])).too_few
    (steps,) = re.findall(r"--max-steps (\d+)", refusal)
    enough = replace(config, budget=replace(config.budget, steps=int(steps)))
    assert not Preflight(load_spec(enough), enough, ScriptedLLM([])).too_few


@pytest.mark.parametrize("horizon", [20, 500, 5_000, None])
def test_shares_of_the_steps_add_up_to_at_most_all(horizon: int | None) -> None:
    """If the budget does not suffice for every round, that is stated instead."""
    first = estimate()
    for steps in (1_000, 20_000, 500_000, 5_000_000):
        budget = replace(first.config.budget, steps=steps)
        result = replace(
            first,
            spec=replace(first.spec, horizon=horizon, sample_rate=1e5),
            config=replace(first.config, budget=budget),
        )
        text = "\n".join(result.lines())
        shares = [int(share) for share in re.findall(r"(\d+)%  ", text)]
        assert sum(shares) <= 102  # shares are rounded
        assert shares or "may not suffice for" in text
        assert "10 min" not in text  # the time includes test episodes
