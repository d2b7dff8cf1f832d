"""Describe the progress of a run in words."""

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
        state: The run's state; call `add` for each event after the state has been updated.
    """

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.started = time.monotonic()
        self._waiting_since: float | None = None

    def add(self, event: Event) -> None:
        """Record when waiting for answers began."""
        if event.kind == "prompt":
            self._waiting_since = self._waiting_since or time.monotonic()
        elif event.kind in {"round", "spec"}:
            self._waiting_since = None

    @property
    def round(self) -> int:
        """The current round, from 1."""
        return min(self.state.config.budget.rounds, self.state.history.rounds + 1)

    @property
    def doing(self) -> str:
        """The current activity."""
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
        return self._describe_samples()

    @property
    def _last_is_tuned(self) -> bool:
        place = CandidateId.parse(self.state.last.key) if self.state.last else None
        return place is not None and place.is_tuned

    @property
    def writes_reward(self) -> bool:
        """Whether the reward is being written, which precedes the spec."""
        return not self.state.spec and writes_reward(self.state.config)

    @property
    def streamed_chars(self) -> int:
        """Characters received so far of unfinished answers."""
        return sum(
            list(self.state.ledger.streamed_chars.values())
        )  # a copy, since another thread adds entries

    @property
    def _arriving(self) -> str:
        return f", {self.streamed_chars:,} characters so far" if self.streamed_chars else ""

    @property
    def open_samples(self) -> dict[str, bool]:
        """The round's samples that are not candidates yet, to whether each is answered."""
        round_, answered = self.round, self.state.payloads["completion"]
        return {
            id_: f"r{round_}.c{n}" in answered
            for n in range(1, self.state.config.candidates + 1)
            if self.state.candidate(id_ := str(CandidateId(round_, n))) is None
        }

    def _describe_samples(self) -> str:
        open_, n = self.open_samples, self.state.config.candidates
        if not all(open_.values()):
            if not self.state.payloads["prompt"]:
                return "starting"
            since = (
                f", {time.monotonic() - self._waiting_since:.0f} s" if self._waiting_since is not None else ""
            )
            return f"waiting for answers, {n - list(open_.values()).count(False)} of {n} received{since}{self._arriving}"
        return f"rolling out {', '.join(open_)}" if open_ else "choosing what to tune and validate"

    @property
    def _tuning(self) -> str:
        """The state of tuning, for example "tuning r2c1: 4,100 steps, best 1,204"."""
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
        """Steps, calls, tokens and money spent so far, with their limits, in words."""
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
        """Return the lines kept up to date below the scrolling output; safe to call from any thread."""
        rounds = self.state.config.budget.rounds
        with self.state.lock:
            return [
                f"round {self.round} of {rounds} · {self.doing} · {time.monotonic() - self.started:.0f} s",
                f"best {self.standing}" if self.state.best else self.standing,
                self.spending,
            ]


def _of(spent: str, limit: float | None, what: str = "") -> str:
    """Describe an amount spent, with the limit if there is one."""
    return f"{spent}{what}" if limit is None else f"{spent} of {limit:,}{what}"
