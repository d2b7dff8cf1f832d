"""Settings of search in a simulator, ``--simulate`` and ``--policy``, and its budget."""

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
"""Maximum number of calls: a simulator with three corrections, programs and two grown programs, with a repair for each."""

SIMULATED_SEARCHES, SIMULATED_RATE = 30, 12_500
"""Maximum simulated steps of a search, in units of one start's, and a lower bound on simulated steps per second and core: simulator
and program take 25,000 each."""


@dataclass(frozen=True)
class SimulatorSettings(FeatureSettings):
    """Settings of the search in a simulator.

    Attributes:
        simulate: Have the model write a simulator of the environment first, and search in it, where steps are free; see
            docs/simulator.md.
        policy: Which policy found in the simulator becomes best.py: the readable program, the network, or any (the better of the
            two). By default the program, if it achieves at least 90 % of what the network gains over random or zero actions,
            whichever return more.
    """

    simulate: Annotated[bool | None, RunSetting("Search", flags="--simulate/--no-simulate")] = None
    policy: Annotated[Product | None, RunSetting("Search")] = None

    def is_on(self, config: Config, llm: LLM) -> bool:
        """Whether a simulator is written before the first round: by the model, or as learned formulas without one."""
        wanted = config.recipe == "model" if self.simulate is None else self.simulate  # the recipe's old name
        return wanted and (not llm.capabilities.language_model or "simulator" in llm.capabilities.purposes)

    def check(self, config: Config, llm: LLM) -> None:
        """Refuse a simulator that this model cannot write, and --policy without a simulator."""
        if self.is_on(config, llm):
            return
        if self.simulate:
            raise UsageError(
                f"--simulate needs a model that writes simulators, and {clean_name(llm.name)} writes none."
            )
        if self.policy is not None:
            raise UsageError("--policy chooses between policies found in a simulator: add --simulate.")


@dataclass(frozen=True)
class SimulatorSwitches(Switches):
    """Size of the search in a simulator.

    Attributes:
        simulated_steps: Simulated steps for each start of each program's tuning; continuing takes eight times as many. Fewer if the simulator is slow.
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
