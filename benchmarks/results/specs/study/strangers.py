"""Environments that other people wrote, described as they are, and each spec held against what its steps do.

`python benchmarks/results/specs/study/strangers.py > rows.jsonl` describes every environment of `PACKAGES` whose package is installed, and the
files in `foreign/`, each in a process of its own, and plays three more episodes under a profiler. A row says what came out:

refused        the sentence, where it was refused
revealed       "source" where its source is shown
unsaid         functions and constants of its author's that a step or a reset came to, and that the spec neither shows nor names
contradicted   statements that other episodes than those it was written from contradict
without        of step's code, action and limit what the spec lacks
"""

from __future__ import annotations

import contextlib
import dis
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

STUDY = Path(__file__).parent

PACKAGES = """
gym_electric_motor:Cont-CC-PMSM-v0 gym_electric_motor:Finite-CC-PMSM-v0 gym_electric_motor:Cont-SC-PermExDc-v0
popgym:popgym-RepeatPreviousEasy-v0 popgym:popgym-BattleshipEasy-v0 popgym:popgym-AutoencodeEasy-v0 popgym:popgym-HigherLowerEasy-v0
popgym:popgym-MineSweeperEasy-v0 popgym:popgym-ConcentrationEasy-v0 popgym:popgym-CountRecallEasy-v0 popgym:popgym-MultiarmedBanditEasy-v0
flappy_bird_gymnasium:FlappyBird-v0 or_gymnasium:InvManagement-v0 or_gymnasium:Newsvendor-v0 or_gymnasium:Knapsack-v0 or_gymnasium:BinPacking-v0
gymnasium_2048:gymnasium_2048/TwentyFortyEight-v0 gym_simplegrid:SimpleGrid-8x8-v0 gym_invmgmt:GymInvMgmt/Serial-v0
gym_invmgmt:GymInvMgmt/MultiEchelon-v0 gymnasium_mars_lander:gymnasium_mars_lander/MarsLander-v1
gymnasium_mars_lander:gymnasium_mars_lander/MarsLanderDiscrete-v1 antibiosim:antibiosim/DoseOptimization-v0
antibiosim:antibiosim/TherapySwitch-v0 anesthesim:anesthesim/PropofolControl-v0 anesthesim:anesthesim/CombinedAnesthesia-v0
glucosim:glucosim/BasalControl-v0 glucosim:glucosim/BolusAdvisor-v0 cardiosim:cardiosim/PacingControl-v0 cardiosim:cardiosim/DefibrillationTiming-v0 gym_sailing:Sailboat-v0
gym_sailing:SailboatDiscrete-v0 gymnasium_cartpole_swingup:CartPoleSwingUp-v0 food_distribution_gym:FoodDistribution-v0
cleaning_robots_gym:CleaningRobots-v0 crosswalk_env:crosswalk-v1 evcrl:EvcRL-StructuredMini-v0 gym_anytrading:stocks-v0
gym_anytrading:forex-v0 gym_dcmotor:DCMotor-v0 panda_gym:PandaReach-v3 gym_xarm:gym_xarm/XarmLift-v0 gym_pusht:gym_pusht/PushT-v0
drone_2d_custom_gym_env:drone-2d-custom-v0 mobile_env:mobile-small-central-v0 highway_env:intersection-v0
minigrid:MiniGrid-LavaCrossingS9N1-v0 minigrid:MiniGrid-Fetch-5x5-N2-v0
gym_fishing:fishing-v0 gym_fishing:fishing-v1 gym_fishing:fishing-v2 gym_conservation:conservation-v0 gym_conservation:conservation-v2
gym_snake:Snake-v0 gym_cabworld:Cabworld-v0 gym_cabworld:Cabworld-v1 gym_bandits:MultiarmedBandits-v0 gym_gridworlds:Gridworld-v0
gym_gridworlds:Cliff-v0 gym_gridworlds:WindyGridworld-v0 gym_2048:2048-v0 gym_sokoban:Sokoban-v0 gym_grand_prix:GrandPrix-v0 gym_fishing:fishing-v4
gym_conservation:conservation-v3 gym_conservation:conservation-v5 gym_display_advertising:StaticDisplayAdvertising-v0
kraken_crossing:KrakenCrossing-v0 kaist_or_gym:kaist-or/TrafficControlEnv-v0 oncosim:oncosim/BeamSelection-v0 oncosim:oncosim/DoseFractionation-v0
oncosim:oncosim/AdaptiveRT-v0 space_mining:SpaceMining dermek_bp_tower_defense_env:DermekBPTowerDefense-v0
""".split()
"""Of Gym are those from `gym_fishing` to `gym_display_advertising`."""

FILES = """
foreign.junction.env:JunctionEnv foreign.vat:Fermenter foreign.peddler:make() foreign.worm:Worm foreign.elevator:Lift foreign.dron:Dron
foreign.clinic:Clinic foreign.lathe:LatheEnv foreign.auction:Auction foreign.thermostat:make_room()
foreign.quarry:build() foreign.lagoon.tidal:Lagoon foreign.shop.bakery_old:BakeryEnv foreign.feeder.feeder:Feeder foreign.signals:Branch foreign.ward.env:Clinic
""".split()

SECONDS, EPISODES, STEPS = 300, 3, 300


class Reach:
    """Functions of an author's that a step or a reset comes to, noted while they run."""

    def __init__(self, roots: list[Path]) -> None:
        self.roots, self.codes = roots, dict[CodeType, tuple[str, dict[str, Any]]]()

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        """Note a call."""
        code = frame.f_code
        if event != "call" or code in self.codes or not self.is_own(code.co_filename):
            return
        names, at = [], frame
        while at is not None and at.f_code.co_name not in {"step", "reset"}:
            names.append(at.f_code.co_name)
            at = at.f_back
        if at is not None or code.co_name in {"step", "reset"}:
            self.codes[code] = (" ".join(names), frame.f_globals)

    def is_own(self, file: str) -> bool:
        """Whether a file is of the author's."""
        return any(Path(file).is_relative_to(root) for root in self.roots)

    def unsaid(self, text: str) -> list[str]:
        """Names in it that a spec neither shows nor mentions."""
        notes = " ".join(line for line in text.splitlines() if line.startswith("# "))
        found = set()
        for code, (names, space) in self.codes.items():
            name = code.co_name
            if name.startswith("<") or "<locals>" in code.co_qualname or re.search(r"\b_*(?:render|close)", names):
                continue
            if not re.search(rf"def {name}\(", text) and not re.search(rf"\b{name}\b", notes):
                found.add(code.co_qualname)
            for item in dis.get_instructions(code):
                value = space.get(item.argval) if item.opname == "LOAD_GLOBAL" else None
                plain = value is not None and not item.argval.startswith("__") and not callable(value) and not isinstance(value, ModuleType)
                told = rf"(?m)^[\w, ]*\b{item.argval}\b[^=\n]*=|import .*\b{item.argval}\b"
                if plain and not re.search(told, text) and not re.search(rf"\b{item.argval}\b", notes):
                    found.add(str(item.argval))
        return sorted(found)


def roots_of(env: Any) -> list[Path]:
    """Folders of the author's files."""
    from promptpo.envs.foreign import layers_of

    found = []
    for layer in layers_of(env):
        for cls in type(layer).__mro__:
            file = getattr(sys.modules.get(cls.__module__), "__file__", None)
            package = cls.__module__.partition(".")[0]
            if file and package not in {"gymnasium", "gym", "promptpo", "abc", "typing"}:
                top = getattr(sys.modules[package], "__file__", None) or file
                found.append(Path(top).parent)
    return found


def describe_one(env_id: str) -> dict[str, Any]:
    """A row."""
    from promptpo.envs.building import make_env
    from promptpo.envs.task import Task
    from promptpo.errors import PromptPOError
    from promptpo.spec.check import contradictions_in
    from promptpo.spec.describe import describe_env
    from promptpo.spec.observe import observe
    from promptpo.spec.reading import read

    task = Task(env_id)
    try:
        env = make_env(task)
        spec, observed = describe_env(env, task, reveal="source")
    except PromptPOError as error:
        return {"env": env_id, "refused": str(error)}
    reach, longest = Reach(roots_of(env)), 0
    for seed in range(50, 50 + EPISODES):
        env.action_space.seed(seed)
        sys.setprofile(reach)
        env.reset(seed=seed)
        for n in range(1, STEPS + 1):
            *_, ended, cut, _ = env.step(env.action_space.sample())
            longest = max(longest, n)
            if ended or cut:
                break
        sys.setprofile(None)
    again = observe(env, task.name, most_steps=600)
    wrong = [str(problem) for problem in contradictions_in(read(spec.text), spec, again)]
    if spec.horizon is not None and longest > spec.horizon:
        wrong.append(f"an episode took {longest} steps")
    limit = spec.horizon is not None or all(not (e.terminated or e.truncated) for e in observed.endings)
    says = {
        "step": bool(re.search(r"def step\(", spec.text)),
        "action": bool(re.search(r"\baction|\bact\b|\ba\b", spec.text.partition("# The environment's own source")[2])),
        "limit": limit or spec.revealed == "source",
    }
    return {
        "env": env_id,
        "revealed": spec.revealed,
        "unsaid": reach.unsaid(spec.text),
        "contradicted": wrong,
        "without": [name for name, said in says.items() if not said],
        "functions": len(reach.codes),
        "horizon": spec.horizon,
        "by": spec.horizon_source,
        "characters": len(spec.text),
        "beside_source": len(spec.text.partition("# The environment's own source")[0]),
    }


def main() -> None:
    """Describe each in a process of its own, or the one that is named."""
    if len(sys.argv) > 2 and sys.argv[1] == "one":
        sys.path.insert(0, str(STUDY))
        signal.alarm(SECONDS)
        with contextlib.redirect_stdout(sys.stderr):
            row = describe_one(sys.argv[2])
        print(json.dumps(row))
        return
    for env_id in sys.argv[1:] or [*PACKAGES, *FILES]:
        command = [sys.executable, "-W", "ignore", __file__, "one", env_id]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        failed = {"env": env_id, "failed": done.stderr.strip().splitlines()[-1:]}
        print(done.stdout.splitlines()[-1] if done.returncode == 0 else json.dumps(failed), flush=True)


if __name__ == "__main__":
    main()
