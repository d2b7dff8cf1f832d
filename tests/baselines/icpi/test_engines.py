"""Engines that read only the prompt."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from promptpo.errors import MissingExtraError, MissingKeyError, UsageError
from promptpo_baselines.icpi.domains import DOMAINS
from promptpo_baselines.icpi.engines.choose import select_engine
from promptpo_baselines.icpi.prompts import Question
from promptpo_baselines.icpi.setting import setting_for
from promptpo_baselines.icpi.values import CompletionRequest
from promptpo_baselines.icpi_flags import Kind
from tests.baselines.icpi.engines import LookupEngine, NoisyEngine, ScriptedEngine
from tests.baselines.icpi.worlds import CHAIN, PAPER, builder, filled_book, oracle

EXAMPLES = (
    "state, reward = reset()\nassert state == [5] and state != [4]\nstate = left()\nassert reward == 0\n"
    "assert state == [4] and state == [4]\nreward = try_goal(state)\nassert reward == 1\n\n"
)


def ask(engine: Any, examples: Any, query: Any, kind: Any = "done") -> Any:
    """Return one completion."""
    return engine.complete([CompletionRequest(examples, query, kind)])[0].text


@pytest.mark.parametrize("env_id", DOMAINS)
@pytest.mark.parametrize("hint", [True, False])
def test_oracle_answers_according_to_the_rules(env_id: str, hint: Any) -> None:
    """Hints make no difference; it reads no other field of a request."""
    setting = setting_for(env_id)
    profile = replace(PAPER, hint=hint)
    book = filled_book(setting, 40, profile)
    build, engine, codec = builder(setting, book, profile), oracle(setting), setting.codec
    rng = np.random.default_rng(7)
    assert setting.domain is not None
    for _ in range(40):
        state = setting.domain.reset(rng)
        action = int(rng.integers(setting.n_actions))
        read = codec.parse_obs(codec.obs(state, hint=hint))
        assert read is not None
        after, reward, done = setting.domain.step(read, action, rng)
        line = codec.obs(state, hint=hint)
        answers: dict[Kind, str] = {
            "done": codec.done(done),
            "reward": codec.reward(reward),
            "next": codec.obs(after, hint=hint),
        }
        for kind, expected in answers.items():
            request = build.request(
                Question(kind, line, action, done if kind == "reward" else None), 0, set()
            )
            if request is None or (kind == "next" and "Distractor" in env_id):
                continue
            blind = replace(request, kind="policy", choices=None)
            assert engine.complete([blind])[0].text == expected


def test_oracle_imitates_the_nearest_state_in_the_prompt() -> None:
    at = [f"state, reward = reset()\n{CHAIN.codec.obs((n,), hint=True)}\n" for n in (3, 4, 5, 7)]
    assert [ask(oracle(CHAIN), EXAMPLES, query) for query in at] == [
        "reward = try_goal(state)",
        "reward = try_goal(state)",
        "state = left()",
        "state = left()",
    ]


@pytest.mark.parametrize(
    "prompt", ["", "\n\n", "x\n\ny\n", "assert done\n\nassert state == [x]\nstate = left()\n"]
)
def test_oracle_gives_an_empty_answer_to_unreadable_prompts(prompt: Any) -> None:
    assert ask(oracle(CHAIN), prompt, "") == ""


def test_lookup_engine_copies_the_last_example() -> None:
    """It does so in trajectories too."""
    engine = LookupEngine(CHAIN.codec)
    state = "assert state == [5] and state != [4]\n"
    old, new = (f"{state}state = left()\nassert {end}\n\n" for end in ("done", "not done"))
    assert ask(engine, old + new, f"{state}state = left()\n") == "assert not done"
    assert ask(engine, old + new, f"{state}state = right()\n") == ""
    assert ask(engine, EXAMPLES, f"state, reward = reset()\n{state}") == "state = left()"
    assert ask(engine, EXAMPLES, "state, reward = reset()\nassert state == [4] and state == [4]\n") == (
        "reward = try_goal(state)"
    )


def test_wrong_answers_are_answers_to_other_questions() -> None:
    """They are valid lines of the same kind."""
    inner = ScriptedEngine(lambda request: request.query)
    engine = NoisyEngine(inner, np.random.default_rng(0), wrong=1.0)
    answers = [ask(engine, "", str(n)) for n in range(50)]
    assert sum(answer != str(n) for n, answer in enumerate(answers)) > 25
    assert all(int(answer) <= n for n, answer in enumerate(answers))


@pytest.mark.parametrize(
    ("name", "settings", "error", "message"),
    [
        ("orakel", {}, UsageError, "ICPI's engines are"),
        ("oracle", {"base_url": "http://127.0.0.1:1/v1"}, UsageError, "--base-url needs an engine"),
        ("llamacpp", {"base_url": "http://127.0.0.1:1/v1"}, UsageError, "llamacpp:MODEL"),
        ("llamacpp:model", {}, UsageError, "needs --base-url"),
        ("completion:model", {}, MissingKeyError, "OPENAI_API_KEY"),
        ("search", {}, UsageError, "a language model"),
    ],
)
def test_unusable_engine_gets_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, settings: Any, error: Any, message: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(error, match=message) as caught:
        select_engine(name, CHAIN, **settings)
    assert "\n" not in str(caught.value)


def test_oracle_supports_only_icpis_domains() -> None:
    with pytest.raises(UsageError, match="ICPI's own domains only"):
        select_engine("oracle", setting_for("FrozenLake-v1"))


def test_embedded_model_names_its_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="pip install"):
        select_engine("embedded:smollm2", CHAIN)
