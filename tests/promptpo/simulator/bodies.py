"""Simulators of planar bodies as a model would write them, with the numbers of the spec's BODY section."""

from pathlib import Path
from typing import Any

TEMPLATE = (Path(__file__).parent / "body.py.txt").read_text()


def _joint(sign: int, low: float, high: float, *rest: float) -> tuple[float, ...]:
    return (sign, low, high, *rest, *[0.0] * (4 - len(rest)))


ROOT = _joint(1, -99, 99)


def _body(parent: int, origin: Any, mass: float, half: float, radius: float, centre: Any, joint: Any) -> Any:
    return (parent, origin, mass, half, radius, centre, 0.0, *joint)


def _leg(parent: int, foot_mass: float, foot_half: float, ankle: float, *rest: float) -> list[Any]:
    """Return thigh, leg and foot below a torso; joint frames lie at the hinges."""
    hinge = lambda low, high: _joint(-1, low, high, 0.0, *rest)  # noqa: E731
    return [
        _body(parent, (0, -0.2), 4.06, 0.225, 0.05, (0, -0.225), hinge(-2.62, 0)),
        _body(parent + 1, (0, -0.45), 2.78, 0.25, 0.04, (0, -0.25), hinge(-2.62, 0)),
        _body(parent + 2, (0, -0.5), foot_mass, foot_half, 0.06, (ankle, 0.0), hinge(-0.785, 0.785)),
    ]


def _torso() -> Any:
    return _body(-1, (0, 0), 3.67, 0.2, 0.05, (0, 0), ROOT)


def _fill(**how: Any) -> str:
    text = TEMPLATE
    for name, value in how.items():
        text = text.replace(f"@{name}@", repr(value))
    return text


def hopper() -> str:
    bodies = [_torso(), *_leg(0, 5.32, 0.195, 0.065, 1.0, 1.0, 200.0)]
    contacts = [(3, (0.26, 0.0), 0.06), (3, (-0.13, 0.0), 0.06)]
    return _fill(
        FRICTION=2.0, BODIES=bodies, CONTACTS=contacts, SUBSTEPS=4, BLEND=0.5, DT=0.008, CLIP=10.0, ALIVE=1.0, CTRL=1e-3,
        HEIGHT=(0, 1.25, 0.7, 99.0, 0.2), NOISE=0.005, GAUSS=0.0,
    )  # fmt: skip


def walker() -> str:
    legs = _leg(0, 3.17, 0.1, 0.1, 0.1, 0.01, 100.0)
    left = [(b[0] + 3 * (i > 0), *b[1:]) for i, b in enumerate(legs)]
    bodies = [_torso(), *legs, *left]
    contacts = [(b, (x, 0.0), 0.06) for b in (3, 6) for x in (0.2, 0.0)]
    return _fill(
        FRICTION=1.9, BODIES=bodies, CONTACTS=contacts, SUBSTEPS=4, BLEND=0.5, DT=0.008, CLIP=10.0, ALIVE=1.0, CTRL=1e-3,
        HEIGHT=(0, 1.25, 0.8, 2.0, 1.0), NOISE=0.005, GAUSS=0.0,
    )  # fmt: skip


def cheetah() -> str:
    hinge = lambda low, high, spring, damping, gear: _joint(1, low, high, spring, damping, 0.1, gear)  # noqa: E731
    bodies = [
        _body(-1, (0, 0), 6.25, 0.55, 0.046, (0.1, 0.02), ROOT),
        _body(0, (-0.5, 0), 1.54, 0.145, 0.046, (0.1, -0.13), hinge(-0.52, 1.05, 240, 6.0, 120.0)),
        _body(1, (0.16, -0.25), 1.59, 0.15, 0.046, (-0.14, -0.07), hinge(-0.785, 0.785, 180, 4.5, 90.0)),
        _body(2, (-0.28, -0.14), 1.1, 0.094, 0.046, (0.03, -0.097), hinge(-0.4, 0.785, 120, 3.0, 60.0)),
        _body(0, (0.5, 0), 1.44, 0.133, 0.046, (-0.07, -0.12), hinge(-1.0, 0.7, 180, 4.5, 120.0)),
        _body(4, (-0.14, -0.24), 1.2, 0.106, 0.046, (0.065, -0.09), hinge(-1.2, 0.87, 120, 3.0, 60.0)),
        _body(5, (0.13, -0.18), 0.885, 0.07, 0.046, (0.045, -0.07), hinge(-0.5, 0.5, 60, 1.5, 30.0)),
    ]
    contacts = [
        (3, (0.03 + 0.025, -0.097 - 0.0906), 0.046), (3, (0.03 - 0.025, -0.097 + 0.0906), 0.046),
        (6, (0.045 + 0.0396, -0.07 - 0.0577), 0.046), (6, (0.045 - 0.0396, -0.07 + 0.0577), 0.046),
        (2, (-0.14 - 0.134, -0.07 - 0.066), 0.046), (5, (0.065 + 0.06, -0.09 - 0.0875), 0.046),
    ]  # fmt: skip
    text = _fill(
        FRICTION=0.4, BODIES=bodies, CONTACTS=contacts, SUBSTEPS=5, BLEND=0.0, DT=0.05, CLIP=1000.0, ALIVE=0.0, CTRL=0.1,
        HEIGHT=(0, 0.0, 0, 0, 0), NOISE=0.1, GAUSS=0.1,
    )  # fmt: skip
    return text.replace('F(self.p["margin"])', 'F(self.p["margin"]) + F(0.7)')
