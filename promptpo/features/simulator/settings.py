"""Settings of search in a simulator, ``--simulate`` and ``--policy``, and what it takes of the budget."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from promptpo.core.budget import ALLOTMENTS, Allotment, affordable_units
from promptpo.core.config import Config, Switches
from promptpo.core.feature import FeatureSettings
from promptpo.errors import UsageError
from promptpo.run.preflight import duration
from promptpo.settings import RunSetting
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo.core.budget import Demand
    from promptpo.llm.base import LLM

Product = Literal["program", "network", "any"]

SIMULATOR_CALLS = 12
"""For a simulator with three corrections, programs with a repair of each, and two that are grown with a repair of each."""

SIMULATED_SEARCHES, SIMULATED_RATE = 30, 12_500
"""A search takes so many times the simulated steps of one start at most; and steps that a core takes in a second, or fewer are taken:
the simulator and the program take 25,000 each."""


@dataclass(frozen=True)
class SimulatorSettings(FeatureSettings):
    """Whether a run searches in a simulator, and for what."""

    simulate: Annotated[
        bool | None,
        RunSetting(
            "Have the model write a simulator of the environment first, and search in it, where steps are free; see docs/simulator.md.",
            "Search",
            flags="--simulate/--no-simulate",
        ),
    ] = None
    policy: Annotated[
        Product | None,
        RunSetting(
            "Which policy found in the simulator becomes best.py: the readable program, the network, or any (the better of the two). By default the program, if it achieves at least 90 % of what the network gains over random or zero actions, whichever return more.",
            "Search",
        ),
    ] = None

    def is_on(self, config: Config, llm: LLM) -> bool:
        """A simulator is written before the first round: by the model, or of learnt formulas where none is asked."""
        wanted = config.recipe == "model" if self.simulate is None else self.simulate  # an older name of it
        return wanted and (not llm.capabilities.language_model or "simulator" in llm.capabilities.purposes)

    def check(self, config: Config, llm: LLM) -> None:
        """Refuse a simulator that this model cannot write, and a policy of one without one."""
        if self.is_on(config, llm):
            return
        if self.simulate:
            raise UsageError(
                f"--simulate needs a model that writes simulators, and {clean_name(llm.name)} writes none."
            )
        if self.policy is not None:
            raise UsageError("--policy chooses between policies found in a simulator: give --simulate, too.")


@dataclass(frozen=True)
class SimulatorSwitches(Switches):
    """How much is searched in a simulator.

    Attributes:
        simulated_steps: Steps in a simulator for each start of each program's tuning; going on takes eight times as many. Fewer where the simulator is slow.
    """

    simulated_steps: Annotated[int, RunSetting(least=1000)] = 1_000_000


def _demand(config: Config, llm: LLM, _: int) -> Demand | None:
    if not config.of(SimulatorSettings).is_on(config, llm):
        return None
    steps = SIMULATED_SEARCHES * config.of(SimulatorSwitches).simulated_steps
    most = duration(steps / SIMULATED_RATE / min(config.jobs or os.cpu_count() or 1, 3))
    calls = f"at most {SIMULATOR_CALLS} of these calls, and " if llm.capabilities.language_model else ""
    line = (
        f"Simulator: {calls}up to {most} of computing for {steps:,} simulated steps, "
        "which are free; --no-simulate turns this off."
    )
    return affordable_units("real", config.budget.steps, 1), SIMULATOR_CALLS, line


ALLOTMENTS["real"] = Allotment(
    "probe", "fit and verify a simulator", 0.65, 0, 10_000, demand=_demand
)  # steps
