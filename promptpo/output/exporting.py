"""Export of a candidate as one readable file that runs without promptpo."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from promptpo.core.candidate import Seeds
from promptpo.core.journal import from_json
from promptpo.envs.extras import of_meta_world
from promptpo.envs.foreign import SEEDED
from promptpo.envs.spaces import space_as_json
from promptpo.envs.task import relative_name
from promptpo.errors import RunError, UsageError
from promptpo.files import Json
from promptpo.llm.choose import public
from promptpo.output.sentences import sentence, texts
from promptpo.program import Program
from promptpo.version import __version__
from promptpo_sandbox import Limits, check_source
from promptpo_sandbox.gate.names import MODULES
from promptpo_sandbox.guest import landlock, seccomp
from promptpo_sandbox.text import clean_lines

if TYPE_CHECKING:
    import gymnasium

    from promptpo.envs.task import RewardProgram, Task

BEST = "best.py"
"""A run's best policy, in its directory."""

GIVEN = "(given to the run at its start)"
"""Follows the author's name if a run began with the policy."""

SEARCH = "program search (no language model)"
"""Takes the place of the author in a run without a language model."""

MARKER = "# --- the policy ends here; what follows was added by promptpo ---"
"""First line of the added part; `policy_part` cuts a file there before it goes into the sandbox."""

POSTPONED = "from __future__ import annotations"
ABOVE = "# --- added by promptpo: what confines the policy, and what plays it ---"
BELOW = "# --- the policy begins here ---"
"""In a file that confines its policy, these two lines enclose another part that promptpo added."""

_ABOVE = re.compile(rf'("""(?:(?!""").)*"""\n{POSTPONED}\n\n){ABOVE}\n(.*?\n){BELOW}\n', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Facts for the header of an exported file.

    Attributes:
        task: The task of the policy.
        model: Its author, for example "anthropic:claude-…"; or "program search (no language model)".
        run_id: Name of the run directory.
        candidate: ID of the candidate.
        result: Content of ``result.json`` about the test; empty before the test.
        files: Digests of the environment's files at the beginning of the run, by path.
    """

    task: Task
    model: str
    run_id: str
    candidate: str
    result: Json = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def export_text(
    source: str,
    provenance: Provenance,
    *,
    action_space: gymnasium.Space[Any] | dict[str, Any] | None,
    filename: str = "policy.py",
    confined: bool = False,
) -> str:
    """Return the text of an exported file.

    Names in the policy that the added part uses itself are renamed throughout the policy, so that neither shadows the
    other.

    Args:
        source: The candidate's module; tuned values are already in its ``PARAMS``.
        provenance: Facts for the header.
        action_space: The action space, or a run's record of it. ``predict`` applies its bounds, as evaluation did.
        filename: File name in the usage line.
        confined: Whether the file, run as a program, confines the policy and the reward in processes of their own.

    Raises:
        RunError: The gate rejects the program or its reward.
    """
    if provenance.task.reward is not None:
        check_gate(provenance.task.reward.source)
    program = Program.from_source(source).inlined
    task = portable(provenance.task).rename_with(relative_name)
    reward = (
        _as_text(Program.from_source(task.reward.source).postponed.source) if task.reward is not None else ""
    )
    built = task.is_family or bool(task.wrappers) or _is_built(task.env_id)
    facts = {
        "program": program,
        "contract": program.contract,
        "task": task,
        "action": _action(action_space),
        "env_kwargs": json.dumps(dict(task.env_kwargs), default=str),
        "built": built,
        "adapts": built or (":" in task.env_id and task.env_id.partition(":")[0] not in SEEDED),
        "wrappers": [str(wrapping) for wrapping in task.wrappers],
        "variants": json.dumps([asdict(variant) for variant in task.family], default=str),
        "files": {relative_name(f"{path}:")[:-1]: digest for path, digest in provenance.files.items()},
        "reward": reward,
        "confined": confined,
        "layers": _layers(),
        "modules": _modules(program.source + reward),
    }
    parts = ("confine", "player", "policy") if confined else ("policy", "player")
    added = {name: texts().get_template(f"{name}.py.j2").render(facts) for name in parts}
    program = program.beside("\n".join(added.values()))
    header = _header(program.docstring, provenance, filename, confined=confined)
    check_gate(body := program.body)
    if not confined:
        return f'"""{header}\n"""\n{body}\n\n\n{MARKER}\n{"".join(added.values())}'
    body = re.sub(rf"^{POSTPONED}[ \t]*(;[ \t]*|\n+|$)", "", body, count=1, flags=re.MULTILINE)
    above, below = added["confine"] + added["player"], added["policy"].rstrip("\n") + "\n"
    return f'"""{header}\n"""\n{POSTPONED}\n\n{ABOVE}\n{above}\n\n{BELOW}\n{body}\n\n\n{MARKER}\n{below}'


def _layers() -> str:
    """Return the source of the layers that confine the sandbox's own guests, for a file that stands alone."""
    sources = [
        inspect.getsource(layer).partition(f"{POSTPONED}\n")[2].strip() for layer in (landlock, seccomp)
    ]
    return re.sub(r"  # (noqa|fmt).*", "", "\n\n\n".join(sources))


def _modules(source: str) -> list[str]:
    """List the modules that a process loads before it confines itself: late-loading parts of numpy, and those a source names."""
    late = ("unicodedata", *(f"numpy.{name}" for name in ("fft", "linalg", "ma", "polynomial", "random")))
    return [
        *late,
        *(name for name in sorted(MODULES) if name in source and name not in {"looking", "mechanism", *late}),
    ]


MAX_PROGRAM_BYTES = 1 << 24
"""Maximum size of an exported program: trained networks are long."""


def check_gate(source: str) -> None:
    """Check that the gate accepts a program before it becomes a file that can be run.

    Raises:
        RunError: The gate rejects it.
    """
    refused = check_source(source, Limits(source_bytes=MAX_PROGRAM_BYTES))
    if refused is not None:
        raise RunError(f"the program is not exported, since the gate refuses it: {refused.message}")


def portable(task: Task) -> Task:
    """Return the task with environments that Gymnasium alone can make, in place of names that only promptpo knows."""

    def rename(task_or_variant: Any) -> Any:
        """Rename the environment of the task or of one of its variants."""
        if not of_meta_world(task_or_variant.env_id):
            return task_or_variant
        from promptpo.envs.meta_world import NAMESPACE, task_name

        try:
            name = task_name(task_or_variant.env_id, task_or_variant.env_kwargs)
        except UsageError:  # its variants say which task
            return replace(
                task_or_variant, env_id=f"metaworld:{task_or_variant.env_id.removeprefix('metaworld:')}"
            )
        if not name:
            return task_or_variant
        return replace(
            task_or_variant,
            env_id=f"metaworld:{NAMESPACE}MT1",
            env_kwargs={**task_or_variant.env_kwargs, "env_name": name},
        )

    whole: Task = rename(task)
    return replace(whole, variants=tuple(map(rename, task.variants)))


def policy_part(text: str) -> str:
    """Return the candidate's own module in an exported file (or in any other policy file)."""
    return _parts(text)[0].rstrip() + "\n"


def parse_added_part(text: str) -> Program:
    """Parse the part that promptpo added to a file, without running it; an empty module for other files."""
    return Program.from_source(_parts(text)[1])


def task_of(text: str) -> Task | None:
    """Return the task that an exported file plays by default, without running it; None for other files."""
    from promptpo.envs.task import Task, Wrapping

    defaults = parse_added_part(text).option_defaults
    try:
        values = {
            "env_id": defaults.get("--env"),
            "env_kwargs": json.loads(defaults.get("--env-kwargs") or "{}"),
            "variants": json.loads(defaults.get("--variants") or "[]"),
            "show_variant": bool(defaults.get("--show-variant")),
            "max_episode_steps": defaults.get("--max-episode-steps"),
        }
        wrappers = tuple(map(Wrapping.parse, defaults.get("--wrapper") or ()))
        task = replace(from_json(Task, values), wrappers=wrappers)
    except (ValueError, TypeError, AttributeError, RecursionError):  # our UsageError is a ValueError
        return None
    return task.single(task.variants[0]) if len(task.variants) == 1 else task


def reward_of(text: str, file: str) -> RewardProgram | None:
    """Return the reward program in an exported file, without running it; None for other files.

    Args:
        text: Text of the file.
        file: Its name.

    Raises:
        UsageError: The program is rejected.
    """
    from promptpo.program.reward_program import reward_program

    source = parse_added_part(text).constant("REWARD")
    return reward_program(source, file=file) if isinstance(source, str) else None


def _as_text(source: str) -> str:
    """Return a module as a readable literal of several lines, or of one line if only that surely preserves it."""
    text = source.strip("\n") + "\n"
    if not text.replace("\n", "").isprintable() or "'''" in text or MARKER in text:
        return repr(text)
    return f"{'r' if chr(92) in text else ''}'''\n{text}'''"


def _is_built(env_id: str) -> bool:
    """Whether a name looks like that of a class or function, rather than like a Gymnasium ID."""
    module, _, name = env_id.rpartition(":")
    return module.endswith(".py") or (bool(module) and re.search(r"-v\d+$", name) is None)


def _parts(text: str) -> tuple[str, str]:
    """Split a file at the last marker, which no value in the added part can forge.

    A marker without an added part after it is an ordinary line of a policy.
    """
    lines = text.split("\n")
    at = max((i for i, line in enumerate(lines) if line.rstrip("\r") == MARKER), default=len(lines))
    before, added = "\n".join(lines[:at]), "\n".join(lines[at:])
    if added and (above := _ABOVE.match(before)):
        before, added = above[1] + before[above.end() :], above[2] + added
    ours = added and "--env" in Program.from_source(added).option_defaults
    return (before, added) if ours else (text, "")


def _header(docstring: str, provenance: Provenance, filename: str, *, confined: bool) -> str:
    """Return the module docstring of the file, escaped so that nothing in it can end it."""
    result = provenance.result if provenance.result.get("test") else {}
    test = result.get("test") or {}
    header = texts().get_template("header.txt.j2").render(
        of=provenance, writer=public(provenance.model), filename=filename, docstring=docstring, confined=confined,
        test=test, score=sentence("score", test), failures=sentence("failures", test),
        references=sentence("references", result), verdict=result.get("verdict"),
        seeds=Seeds().test(test.get("episodes", 1)), version=__version__, today=f"{datetime.now(UTC):%Y-%m-%d}",
    )  # fmt: skip
    return clean_lines(*header.split("\n")).replace("\\", "\\\\").replace('"""', "'''")


def _action(space: gymnasium.Space[Any] | dict[str, Any] | None) -> dict[str, Any]:
    """Return how the file converts what the policy returned to an action, as the sandbox does.

    ``kind`` is that of the recorded space; a "box" also has ``dtype`` and ``shape``, ``low`` and ``high`` as short
    literals, and ``bounded``, whether these are applied.

    Raises:
        ValueError: It is not a recorded space.
    """
    import numpy as np

    if space is None:
        return {"kind": "unknown", "bounded": False}
    known = space if isinstance(space, dict) else space_as_json(space)  # a Dict space is a mapping, too
    if known["kind"] != "box":
        return {"kind": known["kind"], "bounded": False}
    dtype = np.dtype(known["dtype"])
    low, high = (np.asarray(known[end], dtype) for end in ("low", "high"))
    if dtype.kind not in "biuf" or low.shape != high.shape:
        raise ValueError("this is not a recorded action space")
    ends = {"low": _literal(low), "high": _literal(high), "bounded": dtype.kind == "f"}
    return {"kind": "box", "dtype": dtype.name, "shape": low.shape, **ends}


def _literal(bound: Any) -> str:
    """Return a bound as an expression: a single number if it is the same for all elements."""
    values = bound.ravel()
    same = bool(values.size) and bool((values == values[0]).all())
    text = repr(float(values[0])) if same else repr(bound.tolist())
    return re.sub(r"\binf\b", "np.inf", text)
