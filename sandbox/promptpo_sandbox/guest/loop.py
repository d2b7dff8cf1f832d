"""The guest's main loop: reads messages, runs the policies, answers. Runs confined."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from time import perf_counter
from types import CodeType
from typing import Any

from promptpo_sandbox.gate.check import Rejected
from promptpo_sandbox.guest import rewards, wire
from promptpo_sandbox.guest.actions import sample
from promptpo_sandbox.guest.batches import ActionBatch, PlainBatch, batch_of
from promptpo_sandbox.guest.construct import compile_source, construct
from promptpo_sandbox.guest.debug import encode_kept
from promptpo_sandbox.guest.errors import ContractError, describe_failure, remember_source
from promptpo_sandbox.guest.facades import EpisodeModules, Modules
from promptpo_sandbox.guest.namespace import Output, make_restricted_globals, make_unrestricted_globals
from promptpo_sandbox.guest.outbox import Outbox
from promptpo_sandbox.guest.plain import decode, encode
from promptpo_sandbox.guest.rows import Rows
from promptpo_sandbox.guest.seen import encode_seen, watch
from promptpo_sandbox.guest.simulators import SimulatorService
from promptpo_sandbox.guest.wire import HEADER, READ

SLOW_SECONDS = 0.001
"""A longer call of ``act`` is reported at once, so that the host can time the lanes separately."""


LARGEST_READ = 1 << 20
"""Maximum number of bytes in one read, used for long messages: the capacity of the pipe."""


class RunningPolicy:
    """A running policy, in the lane with this number."""

    __slots__ = ("act", "index", "output", "policy", "seen", "slow")

    def __init__(self, index: int, act: Any, output: Output) -> None:
        self.index = index
        self.act = act
        self.policy: Any = None
        self.output = output
        self.slow = False
        self.seen: Any = None

    def note_seen(self, value: Any) -> None:
        """Keep the latest result of the policy's ``perceive``."""
        self.seen = value


class Prints:
    """Stands in for ``sys.stdout``: the output of a library belongs to the lane that called it.

    Args:
        output: Returns the output of the running lane, if one is running.
    """

    def __init__(self, output: Callable[[], Output | None]) -> None:
        self._output = output

    def write(self, text: str) -> int:
        """Keep the text as the lane's own print would."""
        output = self._output()
        return len(text) if output is None else output.write(text)

    def flush(self) -> None:
        """Nothing is buffered elsewhere."""


class GuestLoop:
    """Runs one source for the host at the other end of two pipes.

    Args:
        modules: What policies may import.
    """

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self.code: CodeType | None = None
        self._modules_of: dict[CodeType, Callable[[bytes], EpisodeModules]] = {}
        self.gate = True
        self.output_limit = 0
        self.slow_seconds = SLOW_SECONDS
        self.debug = False
        self.seen = False
        self._outbox = Outbox()
        self._batch: ActionBatch = PlainBatch(self._outbox)
        self.lanes: list[RunningPolicy] = []
        self._running: Output | None = None
        self._acts: list[Callable[[Any], Any]] = []
        self._watchful = False
        self._rows = Rows()
        self.read_size = 65536
        self._rest = b""
        self.printed: list[tuple[Output, str]] = []
        self._rewards = rewards.Rewards(self._run_silently)
        self._simulators: SimulatorService | None = None

    def serve(self) -> None:
        """Answer messages until the host closes the pipe."""
        while True:
            kind, payload = self._receive()
            if kind == wire.STEP_FIXED:
                self._step(self._rows.read(payload, len(self.lanes)))
            elif kind == wire.STEP_PLAIN:
                self._step(decode(payload[HEADER.size :], trusted=True))
            elif kind == wire.LANES:
                self._change_lanes(decode(payload[HEADER.size :], trusted=True))
            elif kind == wire.LAYOUT:
                self._rows = Rows(*decode(payload[HEADER.size :], trusted=True))
            elif kind == wire.LOAD:
                self._load(decode(payload[HEADER.size :], trusted=True))
            elif kind == wire.ASK:
                self._answer(*decode(payload[HEADER.size :], trusted=True))

    def _receive(self) -> tuple[int, bytes]:
        """Return the kind of the next message, and the message with its header."""
        data = self._rest or os.read(READ, self.read_size)
        while len(data) < HEADER.size:
            data += self._more(HEADER.size - len(data))
        kind, _, _, length = HEADER.unpack_from(data)
        total = HEADER.size + length
        missing = total - len(data)
        if missing > 0:
            self.read_size = max(self.read_size, min(total, LARGEST_READ))
            parts = [data]
            while missing:
                parts.append(self._more(missing))
                missing -= len(parts[-1])
            data = b"".join(parts)
        self._rest = data[total:]
        return kind, data[:total]

    @staticmethod
    def _more(n: int) -> bytes:
        data = os.read(READ, n)
        if not data:
            os._exit(0)
        return data

    def _current_output(self) -> Output | None:
        """Return the output of the running lane; in `_step_quickly`, that is the next lane to answer."""
        if self._running is not None:
            return self._running
        done = len(self._batch.pending)
        return self.lanes[done].output if done < len(self.lanes) else None

    def _flush_output(self) -> None:
        for output, parts in groupby(self.printed, key=itemgetter(0)):
            text = "".join(part for _, part in parts)
            if not output.closed:
                self._outbox.add_aside(wire.OUTPUT, text.encode("utf-8", "replace"), output.lane)
        self.printed.clear()

    def _fail(self, error: BaseException, details: Callable[[], str] = str) -> None:
        """Account for a lane or a request with an exception from untrusted code; describing it may print."""
        kind, text, detail = describe_failure(error)
        detail = f"{detail}\n{details()}".strip()
        self._flush_output()
        self._outbox.fail(kind, text, detail)

    # Loading and lanes

    def _load(self, request: dict[str, Any]) -> None:
        self.gate = request["gate"]
        self.slow_seconds = -1.0 if request["careful"] else SLOW_SECONDS
        self.output_limit = request["output_bytes"]
        self.debug = request["debug"]
        self.seen = request["seen"]
        self._batch = batch_of(request["layout"], self._outbox)
        source = request["source"]
        compiled = request["code"]
        if not compiled:
            code = compile_source(source, request["source_bytes"], gate=self.gate)
            if isinstance(code, Rejected):
                self._outbox.fail("rejected", code.message, code.detail)
                return
            compiled = marshal.dumps(code)
        self.code = marshal.loads(compiled)  # noqa: S302 - of an earlier guest, which was confined like this one
        remember_source(source)
        self._outbox.account(wire.READY, compiled)

    def _module(self, digest: bytes, output: Output, code: CodeType | None = None) -> dict[str, Any]:
        """Run a fresh copy of the module, or of another admitted one, and return its namespace."""
        code = code or self.code
        assert code is not None  # noqa: S101 - the host loads first
        sys.stdout = Prints(self._current_output)
        if self.gate:
            sys.stderr = Prints(lambda: None)
            episodes = self._modules_of.get(code)
            if episodes is None:
                episodes = self._modules_of[code] = self.modules.episodes(code)
            namespace = make_restricted_globals(episodes(digest), output)
        else:
            namespace = make_unrestricted_globals()
            sys.stderr = sys.stdout
        exec(code, namespace)  # noqa: S102 - this process exists to do this
        return namespace

    def _change_lanes(self, request: dict[str, Any]) -> None:
        """Stop some lanes, then start others; those that start quickly are acknowledged together."""
        stopped = set(request["stop"])
        for lane in self.lanes:
            if lane.index in stopped:
                lane.output.close()
        self.lanes = [lane for lane in self.lanes if lane.index not in stopped]
        ready = 0
        for index, digest, params in request["start"]:
            began = perf_counter()
            output = self._running = Output(self.output_limit, self.printed, index)
            lane = RunningPolicy(index, None, output)
            try:
                lane.policy = construct(self._module(digest, output), params)
                lane.act = lane.policy.act
                watch(lane.policy, lane.note_seen)
            except BaseException as error:  # noqa: BLE001 - reported to the host
                self._acknowledge(ready)
                ready = 0
                self._fail(error)
                output.close()
                continue
            self._flush_output()
            self.lanes.append(lane)
            ready += 1
            if perf_counter() - began > self.slow_seconds:
                self._acknowledge(ready)
                ready = 0
        self._running = None
        self._acknowledge(ready)
        self._set_lanes(sorted(self.lanes, key=lambda lane: lane.index))

    def _set_lanes(self, lanes: list[RunningPolicy]) -> None:
        self.lanes = lanes
        self._acts = [lane.act for lane in lanes]

    def _acknowledge(self, ready: int) -> None:
        if ready:
            self._outbox.account(wire.READY, lanes=ready)

    # Steps

    def _step(self, observations: Sequence[Any]) -> None:
        """Ask every lane for its action and send them: lane by lane if one fails, and after a slow round.

        Both ways call ``act`` at the same stack depth, since a policy may see how deep it can go.
        """
        error = None
        if not (self._watchful or self.slow_seconds < 0):
            error = self._step_quickly(observations)
            if error is None:
                return
        self._step_watchfully(observations, error)

    def _step_quickly(self, observations: Sequence[Any]) -> BaseException | None:
        """Return the exception of the first lane that fails. The speed of a rollout depends on this loop."""
        batch = self._batch
        add, append, fast_type = batch.add, batch.pending.append, batch.fast_type
        began = perf_counter()
        try:
            for act, obs in zip(self._acts, observations, strict=True):
                action = act(obs)
                if type(action) is fast_type:
                    append(action)
                else:
                    add(action)
        except BaseException as error:  # noqa: BLE001 - reported to the host
            return error
        if self.debug:
            for lane in self.lanes:
                self._add_kept(lane)
        if self.printed:
            self._flush_output()
        batch.send()
        self._watchful = perf_counter() - began > self.slow_seconds
        return None

    def _step_watchfully(self, observations: Sequence[Any], error: BaseException | None = None) -> None:
        """Run a round in which slow lanes answer separately, so that the host can time the lanes.

        A failure of one lane is reported in its place and ends that lane alone.

        Args:
            observations: One for each lane.
            error: The exception of the first lane that has not answered yet, if it raised one.
        """
        batch = self._batch
        done = len(batch.pending)
        failed: list[RunningPolicy] = []
        if error is not None:
            for lane in self.lanes[:done]:
                self._add_kept(lane)
            failed.append(self.lanes[done])
            self._report(failed[0], error, observations[done])
            done += 1
        self._watchful = False
        before = perf_counter()
        for lane, obs in zip(self.lanes[done:], observations[done:], strict=True):
            if lane.slow:
                batch.send()
            self._running = lane.output
            try:
                batch.add(lane.act(obs))
            except BaseException as wrong:  # noqa: BLE001 - reported to the host
                failed.append(lane)
                self._report(lane, wrong, obs)
            else:
                self._add_kept(lane)
                self._flush_output()
            now = perf_counter()
            lane.slow = now - before > self.slow_seconds
            if lane.slow:
                self._watchful = True
                batch.send()
            before = now
        self._running = None
        batch.send()
        if failed:
            self._set_lanes([lane for lane in self.lanes if lane not in failed])

    def _report(self, lane: RunningPolicy, error: BaseException, obs: Any) -> None:
        """Send the pending actions, then a lane's failure, which is its last message to the host."""
        self._batch.send()
        self._fail(error, lambda: f"obs was {sample(obs)}")
        lane.output.close()

    def _add_kept(self, lane: RunningPolicy) -> None:
        """Send a policy's ``debug`` and the latest result of its ``perceive`` along with its action."""
        if self.debug:
            seen, lane.seen = lane.seen if self.seen else None, None
            for kind, data in ((wire.DEBUG, encode_kept(lane.policy)), (wire.SEEN, encode_seen(seen))):
                if data:
                    self._outbox.add_aside(kind, data, lane.index)

    # Requests

    def _answer(self, what: str, request: Any) -> None:
        """Answer a request with plain data, or with a failure."""
        try:
            data = encode(getattr(self, f"_answer_{what}")(request))
        except BaseException as error:  # noqa: BLE001 - reported to the host
            self._fail(error)
        else:
            self._flush_output()
            self._outbox.account(wire.ANSWER, data)

    def _answer_call(self, request: dict[str, Any]) -> str:
        output = self._running = Output(self.output_limit, self.printed, 0)
        module = self._module(request["digest"], output)
        owner, _, method = request["target"].partition(".")
        if owner not in module:
            raise ContractError(f"the code defines no {owner}; define it with a method {method}")
        target = module[owner]
        result = getattr(target(), method)(request["argument"]) if method else target(request["argument"])
        if not isinstance(result, str):
            raise ContractError(f"{request['target']} returned {sample(result)}; return a str")
        size, most = len(str(result).encode("utf-8", "replace")), request["text_bytes"]
        if size > most:
            raise ContractError(f"{request['target']} returned {size} bytes of text; return at most {most}")
        return str(result)

    def _answer_score(self, request: dict[str, Any]) -> Any:
        return self._rewards.score(request)

    def _answer_simulate(self, request: tuple[str, dict[str, Any]]) -> Any:
        if self._simulators is None:
            self._simulators = SimulatorService(self._run_silently)
        self._simulators.gate = self.gate
        return self._simulators.answer(*request)

    def _answer_read(self, request: tuple[str, str, Sequence[Any]]) -> Any:
        """Call a function of a trusted module on untrusted texts."""
        module, function, arguments = request
        return getattr(sys.modules[module], function)(*arguments)

    def _run_silently(self, digest: bytes, code: CodeType | None = None) -> dict[str, Any]:
        """Run a fresh copy of a module that is not a policy, and discard its output."""
        output = self._running = Output(0, self.printed, 0)
        return self._module(digest, output, code)
