"""``promptpo benchmark icpi --models A,B,C --probe``: which models are large enough.

Each model is asked ICPI's four questions, whose answers are known; where it passes, or is told to, ICPI runs with
it. What was answered is kept in the folder, so the same command goes on, and further models join the table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from promptpo_baselines.icpi.engines.choose import check_engine, choose_engine, is_paid
from promptpo_baselines.icpi.estimate import dollars_of, estimate
from promptpo_baselines.icpi.probe import NEEDED_ACCURACY, ProbeRow, probe
from promptpo_baselines.icpi.profile import PROFILES
from promptpo_baselines.icpi.setting import setting_for
from runs import Run, RunStore, cells, engine_suffix
from promptpo.errors import UsageError
from promptpo.run.journal import Journal
from promptpo.run.ledger import Ledger

if TYPE_CHECKING:
    from promptpo.run.config import Budget

ROWS = "probes.jsonl"
VARIANT = "icpi-fast"
FIRST_SEED = 1000
ANSWER_TOKENS = 40

When = Literal["passed", "always", "never"]

_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s?([MBmb])(?![A-Za-z])")
_KNOWN = {"embedded:smollm2": 135e6}


@dataclass(frozen=True, slots=True)
class SizedModel:
    """A model of the table.

    Attributes:
        engine: As ``--engine`` says it.
        base_url: Address of its server; None where it needs none.
        parameters: How many it has; None where that is not known.
    """

    engine: str
    base_url: str | None = None
    parameters: float | None = None

    @classmethod
    def parse(cls, text: str) -> SizedModel:
        """Read ``270M=llamacpp:gemma@http://127.0.0.1:8080/v1``; size and address may be left out.

        A size that is left out is read from the name, where it stands there.
        """
        size, equals, rest = text.strip().partition("=")
        stated = _SIZE.fullmatch(size) if equals else None
        engine, _, address = (rest if stated else text.strip()).partition("@http")
        found = stated or _SIZE.search(re.split(r"[/\\]", engine)[-1])
        parameters = float(found[1]) * (1e9 if found[2] in "Bb" else 1e6) if found else _KNOWN.get(engine)
        return cls(engine, f"http{address}" if address else None, parameters)

    @property
    def label(self) -> str:
        """What tables call it."""
        name = self.engine if len(self.engine) <= 40 else f"{self.engine.split(':')[0]}:…{self.engine[-30:]}"
        return f"{name} ({self.size})" if self.size else name

    @property
    def short(self) -> str:
        """What the figure calls it, in two lines."""
        name = re.split(r"[/\\:]", self.engine)[-1].removesuffix(".gguf")[:14]
        return f"{name}\n{self.size}" if self.size else name

    @property
    def size(self) -> str:
        """Its parameters in words; empty where they are not known."""
        if self.parameters is None:
            return ""
        scale, unit = (1e9, "B") if self.parameters >= 1e9 else (1e6, "M")
        return f"{self.parameters / scale:g} {unit}"


@dataclass(frozen=True)
class SizesStudy:
    """What is asked for.

    Attributes:
        models: Smallest first; those of unknown size last, in the order given.
        env_ids: ICPI's own domains.
        examples: Sizes of the memory that is probed.
        questions: Of each kind and size.
        prompt_tokens: Budget of a prompt.
        agent: When ICPI runs.
        seeds: Its runs of each domain.
        folder: Of the results.
        budget: Limits of each single probe and run.
    """

    models: Sequence[SizedModel]
    env_ids: Sequence[str]
    examples: Sequence[int]
    questions: int
    prompt_tokens: int
    agent: When
    seeds: int
    folder: Path
    budget: Budget

    def check(self) -> None:
        """Refuse models that cannot be asked, before anything is written or paid.

        Raises:
            UsageError: There is no such model, or it cannot be used.
            PromptPOError: A package or a key is missing.
        """
        for model in self.models:
            for env_id in self.env_ids:
                check_engine(model.engine, setting_for(env_id), model.base_url)

    def run(self, tell: Callable[[str], None]) -> tuple[list[Probed], list[Run]]:
        """Ask what has not been asked, and make the runs that are due.

        Raises:
            BudgetSpentError: A limit is reached; the same call goes on.
            ProviderError: A model cannot be asked.
        """
        probed: list[Probed] = []
        runs: list[Run] = []
        for model in self.models:
            rows = list(self._probed(model, tell))
            probed += rows
            if self.agent == "always" or (self.agent == "passed" and passed(rows)):
                runs += self._runs(model, tell)
        return probed, runs

    def _probed(self, model: SizedModel, tell: Callable[[str], None]) -> Iterator[Probed]:
        path = self.folder / ROWS
        known = [Probed.of(line) for line in _lines(path)]
        for env_id in self.env_ids:
            found = [
                one
                for one in known
                if (one.engine, one.questions, one.prompt_tokens)
                == (model.engine, self.questions, self.prompt_tokens)
                and one.row.env_id == env_id
                and one.row.examples in self.examples
            ]
            if {row.row.examples for row in found} < set(self.examples):
                done = {row.row.examples for row in found}
                sizes = [size for size in self.examples if size not in done]
                tell(f"{model.label}: {env_id} with {', '.join(map(str, sizes))} examples")
                new = [
                    Probed(model.engine, model.parameters, self.questions, self.prompt_tokens, row)
                    for row in self._ask(model, env_id, sizes)
                ]
                self.folder.mkdir(parents=True, exist_ok=True)
                with path.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(asdict(row)) + "\n" for row in new)
                found += new
            yield from (replace(row, parameters=model.parameters) for row in found)

    def _ask(self, model: SizedModel, env_id: str, sizes: Sequence[int]) -> list[ProbeRow]:
        setting = setting_for(env_id)
        profile = replace(PROFILES["fast"], prompt_tokens=self.prompt_tokens)
        with ExitStack() as stack:
            journal = None
            if is_paid(model.engine):
                name = f"probe-{env_id.replace('/', '-')}{engine_suffix(model.engine)}"
                journal = stack.enter_context(Journal(self.folder / "completions" / name))
            chosen = choose_engine(
                model.engine,
                setting,
                base_url=model.base_url,
                ledger=Ledger(self.budget, journal.events if journal else ()),
                journal=journal,
            )
            stack.callback(chosen.close)
            return list(
                probe(
                    setting, chosen.engine, profile,
                    examples=sizes, questions=self.questions, measure=chosen.measure,
                )
            )  # fmt: skip

    def _runs(self, model: SizedModel, tell: Callable[[str], None]) -> Iterator[Run]:
        store = RunStore(self.folder, base_url=model.base_url, budget=self.budget)
        seeds = range(FIRST_SEED, FIRST_SEED + self.seeds)
        wanted = cells(self.env_ids, [VARIANT], seeds, engine=model.engine, prompt_tokens=self.prompt_tokens)
        for run, is_new in store.make(wanted):
            if is_new:
                tell(f"{model.label}: {run.env_id}, seed {run.seed}, regret {run.last_quarter}")
            yield run

    def estimates(self) -> list[str]:
        """What each model would take at most, in a sentence; nothing is asked."""
        said = []
        for model in self.models:
            if not is_paid(model.engine):
                continue
            free = model.engine.startswith(("embedded", "llamacpp", "vllm"))
            calls = 4 * len(self.env_ids) * len(self.examples) * self.questions
            tokens = calls * self.prompt_tokens
            usd = dollars_of(model.engine, calls, tokens, ANSWER_TOKENS, free=free)
            text = f"{model.label}: probe at most {calls:,} calls with {tokens / 1e6:.2g} million tokens, {_price(usd)}"
            if self.agent != "never":
                runs = [
                    estimate(
                        setting_for(env_id), "icpi", replace(PROFILES["fast"], prompt_tokens=self.prompt_tokens),
                        steps=setting_for(env_id).domain.figure_steps,  # type: ignore[union-attr] # our own domains
                        test_episodes=0, episode_steps=None, model=model.engine, free=free,
                    )
                    for env_id in self.env_ids
                ]  # fmt: skip
                most = sum((run.expected_calls or run.most_calls) for run in runs) * self.seeds
                prices = [run.expected_usd for run in runs]
                known = [price for price in prices if price is not None]
                whole = sum(known) * self.seeds if len(known) == len(prices) else None
                text += f"; the agent about {most:,} calls, {_price(whole)}"
            said.append(text + ".")
        return said


@dataclass(frozen=True, slots=True)
class Probed:
    """One row of a probe, with whom it asked.

    Attributes:
        engine: Who was asked.
        parameters: How many it has; None where that is not known.
        questions: As asked for; a row may have fewer where there are none.
        prompt_tokens: Budget of a prompt.
        row: The answers.
    """

    engine: str
    parameters: float | None
    questions: int
    prompt_tokens: int
    row: ProbeRow

    @classmethod
    def of(cls, line: str) -> Probed:
        """From a line of `ROWS`."""
        content = json.loads(line)
        return cls(**content | {"row": ProbeRow(**content["row"])})


def sized_models(text: str) -> list[SizedModel]:
    """The models of ``--models``, smallest first, those of unknown size after them.

    Raises:
        UsageError: There are none, or one stands there twice.
    """
    models = [SizedModel.parse(part) for part in text.split(",") if part.strip()]
    if not models:
        raise UsageError("--probe needs engines to ask: --models oracle,lookup,embedded:smollm2")
    if len({model.engine for model in models}) < len(models):
        raise UsageError("--models has the same engine twice.")
    return sorted(models, key=lambda model: (model.parameters is None, model.parameters or 0.0))


def passed(rows: Sequence[Probed]) -> bool:
    """Whether a model gets enough next states right, with as many examples as it was shown at most."""
    following = [one.row for one in rows if one.row.kind == "next"]
    most = max((row.examples for row in following), default=0)
    last = [row for row in following if row.examples == most]
    asked = sum(row.asked for row in last)
    return bool(asked) and sum(row.right * row.asked for row in last) / asked >= NEEDED_ACCURACY


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _price(usd: float | None) -> str:
    return "of unknown price" if usd is None else "for nothing" if not usd else f"for ${usd:,.2f}"
