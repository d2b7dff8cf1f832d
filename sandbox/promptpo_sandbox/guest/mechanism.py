"""MuJoCo for simulators: mechanisms described by MJCF, advanced in many lanes at once, and nothing else of it."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np

MODULE = "mujoco.rollout"
"""Loaded before the guest is confined if a simulator needs it; threads are never started."""

MAX_XML_BYTES, MAX_SUBSTEPS, MAX_DEGREES = 100_000, 200, 200

OUTSIDE = re.compile(r"\bfile\w*\s*=|<\s*include\b|plugin", re.IGNORECASE)
"""MJCF that names a file or a plugin: if the simulator is not confined, the file's content would become observations."""


class Mechanism:
    """A mechanism without state of its own: the caller holds positions and velocities, with the lane as first axis.

    Args:
        xml: MJCF.

    Attributes:
        nq: Number of positions.
        nv: Number of velocities.
        nu: Number of controls.
        dt: Duration of a substep, in seconds.
        qpos0: Positions in the description.

    Raises:
        ValueError: The text does not describe a mechanism; or ImportError, MuJoCo is not installed.
    """

    __slots__ = ("_engine_data", "_engine_model", "_engine_state", "dt", "nq", "nu", "nv", "qpos0")

    def __init__(self, xml: str) -> None:
        mujoco: Any = sys.modules.get("mujoco")
        if mujoco is None:
            raise ImportError("MuJoCo is not installed here; write the simulator with numpy alone")
        if not isinstance(xml, str) or len(xml) > MAX_XML_BYTES:
            raise ValueError(f"Mechanism takes MJCF text of at most {MAX_XML_BYTES} characters")
        if named := OUTSIDE.search(xml):
            raise ValueError(f"MJCF of a Mechanism names no files and no plugins ({named.group()})")
        model = mujoco.MjModel.from_xml_string(xml)
        if model.nv > MAX_DEGREES or model.na:
            raise ValueError(
                f"a mechanism has at most {MAX_DEGREES} degrees of freedom, and no actuators with states"
            )
        self._engine_model, self._engine_data = model, mujoco.MjData(model)
        self._engine_state = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.nq, self.nv, self.nu, self.dt = model.nq, model.nv, model.nu, float(model.opt.timestep)
        self.qpos0 = np.array(model.qpos0)

    def step(self, qpos: Any, qvel: Any, ctrl: Any, substeps: int = 1) -> tuple[Any, Any, Any]:
        """Advance all lanes.

        Args:
            qpos: Positions (n, nq).
            qvel: Velocities (n, nv).
            ctrl: Controls (n, nu), the same in all substeps.
            substeps: Number of substeps.

        Returns:
            New positions, velocities, and the values of the sensors in the description (n, sensors).
        """
        rollout: Any = sys.modules[MODULE]
        n, steps = len(qpos), int(substeps)
        if not n:  # MuJoCo would end the process
            raise ValueError("there are no lanes to move")
        if not 0 < steps <= MAX_SUBSTEPS:
            raise ValueError(f"substeps is {substeps}; at most {MAX_SUBSTEPS} are taken at once")
        state = np.zeros((n, self._engine_state))
        state[:, 1 : 1 + self.nq], state[:, 1 + self.nq : 1 + self.nq + self.nv] = qpos, qvel
        control = np.empty((n, steps, self.nu))
        control[:] = np.asarray(ctrl, float).reshape(n, 1, self.nu)
        found, sensors = rollout.rollout(self._engine_model, self._engine_data, state, control, nstep=steps)
        last = found[:, -1]
        return (
            last[:, 1 : 1 + self.nq].copy(),
            last[:, 1 + self.nq : 1 + self.nq + self.nv].copy(),
            sensors[:, -1].copy(),
        )
