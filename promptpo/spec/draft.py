"""Letting a language model complete a thin spec, and verifying what it wrote."""

from __future__ import annotations

import ast
import importlib.resources
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from promptpo.envs.building import make_env
from promptpo.spec.check import contradictions_in
from promptpo.spec.describe import describe_env
from promptpo.spec.documentation import docstring_of
from promptpo.spec.reading import BLOCKS, read
from promptpo.spec.samples import sample_row

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from promptpo.envs.task import Task
    from promptpo.spec.check import Contradiction
    from promptpo.spec.describe import TaskSpec
    from promptpo.spec.levels import Reveal
    from promptpo.spec.observe import Observed, Step
    from sandbox import Sandbox

SYSTEM = "You describe reinforcement-learning environments truthfully, as short, readable Python."
ATTEMPTS = 2
ROWS = 8
REPLAYED = 60
REPRODUCED = 0.99
"""Share of recorded rewards that a reward function has to give to be kept."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A spec that a language model completed.

    Attributes:
        text: The spec; parts that did not stand the check are the generated ones.
        drafted: Definitions that the model wrote and that stand.
        verified: Definition to how it was verified, one sentence each.
        refused: What was wrong with the rest.
        steps: Environment steps spent.
    """

    text: str
    drafted: tuple[str, ...]
    verified: Mapping[str, str]
    refused: tuple[str, ...]
    steps: int


class Ask(Protocol):
    """Sends one request to a language model; the caller accounts for it."""

    def __call__(self, key: str, *, system: str, prompt: str) -> Awaitable[str]:
        """The text of the answer to a request that is called `key` in the journal."""


async def draft_spec(task: Task, ask: Ask, sandbox: Sandbox, *, reveal: Reveal = "named") -> Draft:
    """Ask a model to complete the spec of a task, and keep what can be verified.

    Names, indices, shapes and bounds are compared with the environment; a reward function is run in
    the sandbox on recorded steps and has to give their rewards.

    Args:
        task: The environment.
        ask: Sends a request of the purpose "spec" to the model.
        sandbox: Runs the drafted reward function.
        reveal: As in `promptpo.spec.describe`.

    Raises:
        ProviderError: The model cannot be reached.
        PromptPOError: Whatever `make_env` raises.
    """
    env = make_env(task)
    try:
        generated, observed = describe_env(env, task, reveal=reveal)
        documentation = docstring_of(type(env.unwrapped)) or "none"
    finally:
        env.close()
    shown = documentation[:6000] if reveal == "named" else "not shown"
    text, complaints = generated.text, ""
    for attempt in range(ATTEMPTS):
        prompt = _prompt(text=generated.text, documentation=shown, observed=observed, complaints=complaints)
        text = _fenced(await ask(f"spec.draft{attempt + 1}", system=SYSTEM, prompt=prompt))
        problems = _problems(text, task, generated, observed)
        if not problems:
            break
        complaints = "\nThe last attempt was wrong:\n" + "\n".join(f"- {problem}" for problem in problems)
    return _kept(text, task, generated, observed, sandbox)


def _prompt(*, text: str, documentation: str, observed: Observed, complaints: str) -> str:
    template = importlib.resources.files(__package__).joinpath("draft.md").read_text(encoding="utf-8")
    rows = "\n".join(sample_row(step, following=True) for step in observed.steps[:ROWS])
    values = {"spec": text.strip(), "documentation": documentation, "rows": rows, "complaints": complaints}
    return re.sub(r"\{\{ (\w+) \}\}", lambda match: values[match[1]], template)


def _fenced(answer: str) -> str:
    """The longest fenced block of an answer, or the whole answer."""
    blocks: list[str] = re.findall(r"```(?:python)?\s*\n(.*?)```", answer, re.DOTALL)
    return max(blocks, key=len) if blocks else answer


def _problems(text: str, task: Task, generated: TaskSpec, observed: Observed) -> list[Contradiction | str]:
    try:
        reading = read(text)
    except (SyntaxError, ValueError) as error:
        return [f"it is not valid Python: {error}"]
    return list(contradictions_in(reading, task, generated, observed))


def _kept(
    text: str,
    task: Task,
    generated: TaskSpec,
    observed: Observed,
    sandbox: Sandbox,
) -> Draft:
    """Put the drafted definitions that stand in the place of the generated ones."""
    old, new = _blocks(generated.text), _blocks(text)
    refused: list[str] = []
    verified: dict[str, str] = {}
    drafted: list[str] = []
    pieces: list[str] = []
    for name in BLOCKS:
        piece = new.get(name, "")
        if not piece or piece == old.get(name):
            pieces.append(old.get(name, ""))
            continue
        problems = _problems(piece, task, generated, observed)
        refused += [f"{name}: {problem}" for problem in problems]
        if problems:
            piece = _without_wrong(
                name, piece, old.get(name, ""), lambda text: _problems(text, task, generated, observed)
            )
        note = _verified(name, piece, observed, sandbox) if piece else ""
        if piece and not note:
            refused.append(f"{name}: it does not give the rewards of the recorded steps.")
        if note:
            drafted.append(name)
            verified[name] = note
        pieces.append(piece if note else old.get(name, ""))
    head = generated.text[: generated.text.find("\nclass State")].rstrip()
    return Draft(
        text="\n\n\n".join(filter(None, [head, *pieces])) + "\n",
        drafted=tuple(drafted),
        verified=verified,
        refused=tuple(refused),
        steps=generated.sample_steps,
    )


def _without_wrong(
    name: str, piece: str, generated: str, problems: Callable[[str], Sequence[Contradiction | str]]
) -> str:
    """A drafted definition without the fields, choices or entries that are wrong; empty where none is right.

    What a removed field described is described as in the generated definition.
    """
    if name == "reward":
        return ""
    if name == "EPISODE":
        entries = read(piece).episode or {}
        kept = {k: v for k, v in entries.items() if not problems(f"EPISODE = {{{k!r}: {v!r}}}")}
        return f"EPISODE = {kept!r}" if kept else ""
    wrong = {problem.line for problem in problems(piece) if not isinstance(problem, str)}
    tree = ast.parse(piece).body[0]
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)]
    bad = [node for node in found if node.lineno in wrong]
    if not bad or len(bad) == len(found):
        return ""
    lines = piece.splitlines()
    for node in bad:
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    shorter = "\n".join(
        line for line, before in zip(lines, piece.splitlines(), strict=True) if line or not before
    )
    described = {
        ast.unparse(said.expression) for part in read(shorter).parts.values() for said in part.fields
    }
    missing = [
        line
        for part in read(generated).parts.values()
        for said in part.fields
        if ast.unparse(said.expression) not in described
        for line in [generated.splitlines()[said.line - 1]]
    ]
    whole = "\n".join([shorter, *missing])
    return next((text for text in (whole, shorter) if not problems(text)), "")


def _blocks(text: str) -> Mapping[str, str]:
    """Definition to its source; none where the text is no Python."""
    try:
        return read(text).blocks
    except SyntaxError:
        return {}


def _verified(name: str, piece: str, observed: Observed, sandbox: Sandbox) -> str:
    """How a definition was verified; empty for a reward that does not reproduce the recorded ones."""
    if name in {"State", "Action"}:
        return "indices, shapes and bounds agree with the environment; names and meanings are the model's."
    if name == "EPISODE":
        return "the number of steps, the threshold and the success signal agree; the words are the model's."
    function = next(node for node in ast.parse(piece).body if isinstance(node, ast.FunctionDef))
    if all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in function.body):
        return "a description in words, not verified."
    right, n = reproduced(piece, observed.steps[:REPLAYED], sandbox)
    return f"it gives {right} of {n} recorded rewards." if n and right >= REPRODUCED * n else ""


def reproduced(source: str, steps: Sequence[Step], sandbox: Sandbox) -> tuple[int, int]:
    """Run a reward function on recorded steps, in the sandbox.

    Args:
        source: Defines ``reward(obs, action, next_obs)`` and what it calls.
        steps: What was recorded.
        sandbox: Where the function runs.

    Returns:
        How many rewards it gave, and of how many; (0, n) where it failed.
    """
    module = f"import math\nimport numpy as np\n\n{source}\n\n{_REPLAY}"
    rows = [(step.observation, step.action, step.next_observation) for step in steps]
    result = sandbox.call(module, "replay", rows)
    if result.failure is not None or result.value is None:
        return 0, len(rows)
    try:
        given = [float(line) for line in result.value.split()]
    except ValueError:
        return 0, len(rows)
    pairs = zip(given, steps, strict=False)
    right = sum(math.isclose(reward, step.reward, rel_tol=1e-4, abs_tol=1e-6) for reward, step in pairs)
    return right, len(rows)


_REPLAY = """
def replay(rows):
    return "\\n".join(str(float(reward(obs, action, next_obs))) for obs, action, next_obs in rows)
"""
