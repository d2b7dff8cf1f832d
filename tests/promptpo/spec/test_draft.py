"""A model's draft of a spec: what stands is kept, the rest is refused with a reason."""

import asyncio
from pathlib import Path
from typing import Any

from promptpo.envs.task import Task
from promptpo.spec import check_spec, draft_spec
from sandbox import Sandbox

TASK = Task("tests.promptpo.spec.envs:Mine/Thermostat-v0")
GOOD = '''Here it is.

```python
class State:
    """obs: dict."""

    def __init__(self, obs):
        self.temperature = obs["temperature"][0]  # -20 .. 50; degrees Celsius
        self.window = obs["window"]  # 0 .. 1; 1 is open


def reward(obs, action, next_obs):
    return -abs(next_obs["temperature"][0] - 21.0) - 0.1 * action[0] ** 2


EPISODE = {"max_steps": 40, "start": "A cold room."}
```
'''


def drafted(*answers: Any) -> Any:
    """A draft from scripted answers, with the prompts that asked for them."""
    prompts = []

    async def ask(key: Any, *, system: Any, prompt: Any) -> Any:
        prompts.append((key, prompt))
        assert system
        return answers[len(prompts) - 1]

    with Sandbox(allow_weaker=True) as sandbox:
        return asyncio.run(draft_spec(TASK, ask, sandbox)), prompts


def test_a_good_draft_is_kept_and_verified() -> None:
    """Names are the model's; the reward is run on recorded steps; the rest stays as generated."""
    draft, prompts = drafted(GOOD)
    assert draft.drafted == ("State", "reward", "EPISODE")
    assert draft.verified["reward"] == "it gives 60 of 60 recorded rewards."
    assert draft.refused == ()
    assert "degrees Celsius" in draft.text
    assert "class Action" in draft.text
    assert check_spec(draft.text, TASK) == []
    assert [key for key, _ in prompts] == ["spec.draft1"]
    assert draft.steps > 0


def test_a_wrong_reward_is_refused_and_the_generated_one_stays() -> None:
    """A reward that does not reproduce the recorded ones is dropped."""
    draft, _ = drafted(GOOD.replace("21.0", "19.0"))
    assert "reward" not in draft.drafted
    assert draft.refused == ("reward: it does not give the rewards of the recorded steps.",)
    assert "env.temperature - 21.0" in draft.text


def test_contradictions_are_shown_to_the_model_once() -> None:
    """A wrong index leads to a second request that names it; the second answer is used."""
    draft, prompts = drafted(GOOD.replace('obs["window"]', 'obs["door"]'), GOOD)
    assert "obs['door'] does not exist" in prompts[1][1]
    assert "State" in draft.drafted


def test_nonsense_leaves_the_generated_spec() -> None:
    """An answer that is no Python, twice, changes nothing."""
    draft, prompts = drafted("I cannot.", "```python\nclass State(\n```")
    assert draft.drafted == ()
    assert len(prompts) == 2
    assert check_spec(draft.text, TASK) == []


def test_a_draft_never_runs_outside_the_sandbox(tmp_path: Path) -> None:
    """Reward code that tries to open a file is refused, and opens none."""
    mark = tmp_path / "ran"
    bad = GOOD.replace("    return -abs", f"    open({str(mark)!r}, 'w')\n    return -abs")
    draft, _ = drafted(bad)
    assert "reward" not in draft.drafted
    assert not mark.exists()


def test_one_wrong_field_does_not_discard_the_rest() -> None:
    """The wrong field is refused by name; what it described keeps its generated line."""
    draft, _ = drafted(*[GOOD.replace('obs["window"]', 'obs["door"]')] * 2)
    assert "State" in draft.drafted
    assert "degrees Celsius" in draft.text
    assert 'obs["window"]' in draft.text
    assert any("obs['door'] does not exist" in why for why in draft.refused)
    assert check_spec(draft.text, TASK) == []


def test_an_undocumented_environment_is_not_documented_by_gymnasium() -> None:
    """The text of Gymnasium's base class says nothing about an environment."""
    prompts = []

    async def ask(_key: Any, *, system: Any, prompt: Any) -> Any:
        assert system
        prompts.append(prompt)
        return GOOD

    with Sandbox(allow_weaker=True) as sandbox:
        asyncio.run(draft_spec(Task("tests.promptpo.spec.envs:Mine/Silent-v0"), ask, sandbox))
    assert "The main Gymnasium class" not in prompts[0]
    assert "as far as there is any:\n\nnone" in prompts[0]
