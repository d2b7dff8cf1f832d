"""Progress of a run, in words."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from promptpo.core.candidate import CandidateId
from promptpo.core.feature import writes_reward
from promptpo.output.outcome import with_error
from promptpo.prompts.feedback import number
from promptpo.prompts.shortening import count_of

if TYPE_CHECKING:
    from promptpo.core.journal import Event
    from promptpo.run.state import RunState


class RunProgress:
    """Progress of a run, in words.

    Args:
        state: Of the run; `add` is told of each event that it has taken into account.
    """

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.started = time.monotonic()
        self._asked_at: float | None = None

    def add(self, event: Event) -> None:
        """Remember since when answers are waited for."""
        if event.kind == "prompt":
            self._asked_at = self._asked_at or time.monotonic()
        elif event.kind in {"round", "spec"}:
            self._asked_at = None

    @property
    def round(self) -> int:
        """The round that is going on, from 1."""
        return min(self.state.config.budget.rounds, self.state.history.rounds + 1)

    @property
    def doing(self) -> str:
        """Current activity, for a person who waits."""
        state, last = self.state, str(self.state.last.kind) if self.state.last else ""
        if self.writes_reward:
            return f"writing the reward{self._arriving}"
        if last in ("test", "held_out", "stop"):
            return "writing the result"
        if state.history.rounds >= state.config.budget.rounds:
            return f"testing {state.best.id} on held-out episodes" if state.best else "writing the result"
        if last == "reference" and not state.candidates:
            return "playing reference policies"
        if last in ("decision", "tuning") and self._tuning:
            return self._tuning
        if last in ("simulator", "simulated", "real", "note"):
            return f"searching in a simulator{self._arriving}"
        if last == "round":
            return f"preparing round {self.round}"
        if last == "validation" or (last == "attempt" and self._last_is_tuned):
            return "validating the round's best"
        return self._trying_out()

    @property
    def _last_is_tuned(self) -> bool:
        place = CandidateId.parse(self.state.last.key) if self.state.last else None
        return place is not None and place.is_tuned

    @property
    def writes_reward(self) -> bool:
        """Whether the reward is still being written: what the model is told of the task comes after."""
        return not self.state.spec and writes_reward(self.state.config)

    @property
    def heard(self) -> int:
        """Characters that have arrived of answers that are being written."""
        return sum(list(self.state.ledger.arriving.values()))  # they come in another thread

    @property
    def _arriving(self) -> str:
        return f", {self.heard:,} characters so far" if self.heard else ""

    @property
    def open_samples(self) -> dict[str, bool]:
        """The samples of the round that are no candidate yet, and whether each is answered."""
        round_, answered = self.round, self.state.told["completion"]
        return {
            id_: f"r{round_}.c{n}" in answered
            for n in range(1, self.state.config.candidates + 1)
            if self.state.candidate(id_ := str(CandidateId(round_, n))) is None
        }

    def _trying_out(self) -> str:
        open_, n = self.open_samples, self.state.config.candidates
        if not all(open_.values()):
            if not self.state.told["prompt"]:
                return "starting"
            since = f", {time.monotonic() - self._asked_at:.0f} s" if self._asked_at is not None else ""
            return f"waiting for answers, {n - list(open_.values()).count(False)} of {n} received{since}{self._arriving}"
        return f"rolling out {', '.join(open_)}" if open_ else "choosing what to tune and validate"

    @property
    def _tuning(self) -> str:
        """For example "tuning r2c1: 4,100 steps, best 1,204"."""
        batches = self.state.tuning
        if not batches:
            return ""
        returns = [batch.best_return for batch in batches if batch.best_return is not None]
        best = f", best {number(max(returns))}" if returns else ""
        steps = sum(sum(batch.spent.values()) for batch in batches)
        tuned = ", ".join(batches[-1].candidates) or "numbers"
        return f"tuning {tuned}: {steps:,} steps{best}"

    @property
    def standing(self) -> str:
        """The best so far, in words."""
        best = self.state.best
        if best is not None:
            return f"{best.id}: return {with_error(best.evidence)}"
        count = len(self.state.candidates)
        return f"none of {count_of(count, 'policy')} ran" if count else "nothing has run yet"

    @property
    def spending(self) -> str:
        """Steps that count against the budget, calls, tokens and money so far, of what there is of them."""
        ledger, budget = self.state.ledger, self.state.config.budget
        parts = [_of(f"{ledger.searched_steps:,}", budget.steps, " steps")]
        if ledger.usage.input_tokens:
            parts.append(_of(f"{ledger.calls:,}", budget.calls, " call" if ledger.calls == 1 else " calls"))
            parts.append(_of(f"{ledger.usage.total:,}", budget.tokens, " tokens"))
        if ledger.cost_usd or budget.usd:
            parts.append(_of(f"${ledger.cost_usd:.4f}", budget.usd))
        if ledger.unpriced_calls:
            parts.append(f"{count_of(ledger.unpriced_calls, 'call')} of unknown price")
        return ", ".join(parts)

    def lines(self) -> list[str]:
        """Lines that are kept up to date below the scrolling output; any thread may ask for them."""
        rounds = self.state.config.budget.rounds
        with self.state.lock:
            return [
                f"round {self.round} of {rounds} · {self.doing} · {time.monotonic() - self.started:.0f} s",
                f"best {self.standing}" if self.state.best else self.standing,
                self.spending,
            ]


def _of(spent: str, limit: float | None, what: str = "") -> str:
    """Say how much was spent, and of how much if there is a limit."""
    return f"{spent}{what}" if limit is None else f"{spent} of {limit:,}{what}"
