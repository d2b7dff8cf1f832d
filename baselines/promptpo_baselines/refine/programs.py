"""The program in the file and in the sandbox: called safely, with its action as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from gymnasium import spaces

from promptpo.program import Program
from promptpo_baselines.environments import AnySpace
from promptpo_baselines.refine.shapes import Actions


@dataclass(frozen=True)
class Prior:
    """A program that a network starts from.

    Attributes:
        source: Its module, as the run exported it.
        observation_space: Space of its observations.
        action_space: Space of its actions.
    """

    source: str
    observation_space: AnySpace
    action_space: AnySpace

    @cached_property
    def program(self) -> Program:
        """The program's module."""
        return Program.from_source(self.source)

    @cached_property
    def actions(self) -> Actions:
        """Its actions as numbers."""
        return Actions.of(self.action_space)

    @cached_property
    def name(self) -> str:
        """Name of the program's class beside the network's ``Policy``."""
        name, words = "Program", self.program.names | self.program.reads
        while name in words:
            name += "_"
        return name

    @cached_property
    def module(self) -> str:
        """The program's module without its docstring, its class renamed to `name`, our own names kept free."""
        program = self.program
        for taken in sorted(program.names & {"Prior", "finite", "one_hot", "started", "Network", "NETWORK"}):
            program = program.rename_to_unused(taken)
        renamed = program.rename("Policy", self.name)
        numpy = "" if "np" in renamed.names else "import numpy as np\n"
        text = renamed.without_docstring.strip("\n")
        if text.startswith("from __future__"):
            first, _, rest = text.partition("\n")
            return f"{first}\n{numpy}{rest}"
        return numpy + text

    @property
    def asking(self) -> str:
        """Source of the classes and functions that call the program safely and return numbers."""
        contract, making = self.program.contract, f"{self.name}()"
        if contract.takes_params:
            making = f"{self.name}(params)"
        elif contract.takes_params is None:
            making = f"started({self.name}, params)"
        return _ASKING.format(
            values=self.program.constructor_argument(),
            making=making,
            reset="\n            self.program.reset()" if contract.resets else "",
            size=self.actions.size,
            action=self.actions.reading("self.program.act(obs)"),
            helpers=(_STARTED if contract.takes_params is None else "")
            + (_ONE_HOT if self.actions.choices else _FINITE),
        )

    # In training

    @property
    def asked_space(self) -> AnySpace:
        """Space of the sandboxed program's input: whether it is to act, and the observation."""
        return spaces.Tuple((spaces.Discrete(2), self.observation_space))

    @property
    def answer_space(self) -> AnySpace:
        """Space of its answer: the action as numbers."""
        return spaces.Box(-np.inf, np.inf, (self.actions.size,), np.float64)

    @property
    def training_source(self) -> str:
        """The module that runs in the sandbox while the network is trained."""
        return join_parts([self.module, self.asking, _TRAINED])


def join_parts(parts: Sequence[str]) -> str:
    """Join parts of a module, with two blank lines between them."""
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


_FINITE = '''
def finite(numbers):
    """Return the numbers; raise ValueError unless all are finite."""
    if not np.isfinite(numbers).all():
        raise ValueError("the program's action is no number")
    return numbers
'''.strip("\n")

_ONE_HOT = '''
def one_hot(choice, n):
    """Return a one-hot vector of n numbers; raise ValueError for an invalid choice."""
    if int(choice) != choice or not 0 <= choice < n:
        raise ValueError("the program's action is no choice")
    return (np.arange(n) == choice).astype(float)
'''.strip("\n")

_STARTED = '''
def started(policy, params):
    """Create a policy for an episode, with its parameters if it takes them."""
    try:
        program = policy(params)
    except TypeError:
        program = policy()
    if hasattr(program, "reset"):
        program.reset()
    return program


'''.lstrip("\n")

_ASKING = '''\
{helpers}


class Prior:
    """The program's action as numbers, from -1 to 1 between its bounds; zeros once it has failed."""

    def __init__(self, params):
        params = params or {values}
        self.failed, self.program = False, None
        try:
            self.program = {making}{reset}
        except Exception:
            self.failed = True

    def numbers(self, obs):
        action = np.zeros({size})
        if not self.failed:
            try:
                action = {action}
            except Exception:
                self.failed = True
        return action
'''

_TRAINED = '''\
class Policy:
    """Acts when asked to, and fails with the program."""

    def __init__(self, params=None):
        self.prior, self.last = Prior(params), None

    def act(self, asked):
        act, obs = asked
        if act:
            self.last = self.prior.numbers(obs)
        if self.prior.failed:
            raise RuntimeError("the program has failed")
        return self.last
'''
