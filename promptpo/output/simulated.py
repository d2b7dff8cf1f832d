"""The simulator of a run and its results: for `result.json`, for `show`, for the report, and as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from promptpo.files import Json
from promptpo.output.sentences import sentence

if TYPE_CHECKING:
    from promptpo.features.simulator.records import Version
    from promptpo.run.state import RunState

SIMULATOR = "simulator.py"
"""The simulator as a Gymnasium environment and a vectorised one, in the directory of a run."""

MAX_ROWS = 12
"""Maximum number of errors shown."""

WORDS = {"program": "the readable program", "network": "the network"}


def simulator_of(state: RunState) -> Version | None:
    """Return the simulator that was searched last; None if there is none."""
    from promptpo.features.simulator.records import Version

    chosen = [data for key, data in state.payloads["decision"].items() if key.startswith("s.version")]
    return state.read("simulator", Version).get(chosen[-1]) if chosen else None


def describe_search(state: RunState) -> list[str]:
    """Describe the results of the search in the simulator, in lines."""
    return [str(text) for key, text in state.payloads["note"].items() if key.startswith("s.")]


def count_simulated_steps(state: RunState) -> int:
    """Return the number of simulated steps of a run."""
    found = [data for data in state.payloads["simulated"].values() if isinstance(data, dict)]
    worked = sum(int(data.get("simulated_steps", 0)) for data in found)
    return worked + sum(int(data.get("steps", 0)) for data in state.payloads["simulator"].values())


def content_of(state: RunState) -> dict[str, Any]:
    """Describe a run's simulator for ``result.json``; empty if none was requested."""
    if not describe_search(state):
        return {}
    version = simulator_of(state)
    rows = [row for row in (version.errors.rows if version and version.errors else ()) if row.scale > 0]
    rows.sort(key=lambda row: row.explained)
    return {
        "simulator": {
            "written": version is not None,
            "file": SIMULATOR if version is not None else None,
            "steps": {"real": state.ledger.taken["real"], "simulated": count_simulated_steps(state)},
            "numbers": list(map(asdict, version.numbers)) if version else [],
            "errors": [{**asdict(row), "explained": row.explained} for row in rows],
            "policies": [{"policy": key, **check} for key, check in state.payloads["verified"].items()],
            "notes": describe_search(state),
        }
    }


def lines_of(state: RunState) -> list[str]:
    """Describe the simulator of a run for `show`; empty if none was requested."""
    if not describe_search(state):
        return []
    real, simulated = state.ledger.taken["real"], count_simulated_steps(state)
    return [
        f"Simulator: {simulated:,} simulated steps, which are free; {real:,} real ones to fit and verify it",
        *(f"  {text}" for text in describe_search(state)),
    ]


def product_lines(data: Json) -> list[str]:
    """Describe the program and the network of a run side by side, best.py first; empty unless there are both."""
    products: Mapping[str, Any] = data.get("products") or {}
    if len(products) < 2:  # noqa: PLR2004 - one of each
        return []
    ranked = sorted(products.items(), key=lambda item: not item[1]["best"])
    scores = [
        f"{WORDS.get(name, name)} ({product['file']}{', exported as best.py' if product['best'] else ''}) {sentence('score', product['test']) or 'was not tested'}"
        for name, product in ranked
    ]
    return [f"Held-out return: {'; '.join(scores)}."]


def simulator_module(state: RunState, spaces: Any, horizon: int) -> str:
    """Return the simulator as a module with environments; empty if there is none."""
    from promptpo.output.exporting import check_gate
    from promptpo.simulator.contract import Simulation
    from promptpo.simulator.export import environment_file

    version = simulator_of(state)
    if version is None:
        return ""
    check_gate(version.source)
    simulation = Simulation.of(version.source, spaces[0], spaces[1], horizon)
    return environment_file(replace(simulation, vectors=version.vectors[:1]), state.config.task.name)
