"""PARAMS entries that are names, sums or added later: parsed, tuned, exported and rejected by one rule."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from promptpo.program import Program
from promptpo_sandbox import Sandbox, Trial, check_source

POLICY = """

class Policy:
    def __init__(self, params):
        assert isinstance(params["W"], np.ndarray) and isinstance(params["k"], float)
        self.W, self.k = params["W"], params["k"]

    def act(self, obs):
        return int((self.W @ obs)[0] + self.k > 0)
"""

NAMED = {
    "values": "W0, K0 = None, 2\nW1 = np.zeros((1, 4))\nK1 = 2.0\nPARAMS = {'W': (W1, -1, 1), 'k': (K1, -np.pi, 2 * K1)}",
    "triples": "SPEC = ([[0.0, 0.0, 0.0, 0.0]], -1.0, 1.0)\nPARAMS = {'W': SPEC, 'k': (2.0, -np.pi, 4.0)}",
    "added": "PARAMS = {}\nPARAMS['W'] = (np.zeros((1, 4)), -1, 1)\nPARAMS.update({'k': (2.0, -np.pi, 4)})",
    "called": "BASE = dict(k=(2.0, -np.pi, 4.0))\nPARAMS = {**BASE, 'W': (np.zeros((1, 4)), -1, 1)}",
    "dict": "PARAMS = dict(W=(np.zeros((1, 4)), -1, 1), k=(1.0 + 1.0, -np.pi, 4.0))",
}


@pytest.mark.parametrize("how", NAMED)
def test_indirect_entries_are_parsed_like_literals(how: str) -> None:
    """Entries may be names, arithmetic or added later."""
    source = f"import numpy as np\n\n{NAMED[how]}\n{POLICY}"
    program = Program.from_source(source)
    assert check_source(source) is None
    assert program.arrays == {"W": (1, 4)}
    assert program.params["k"] == pytest.approx((2.0, -np.pi, 4.0))
    assert program.params["W[0,3]"] == (0.0, -1.0, 1.0)
    tuned = program.with_values({"W[0,1]": 0.5, "k": -1.25})
    assert tuned.params["W[0,1]"] == (0.5, -1.0, 1.0)
    assert tuned.params["k"] == pytest.approx((-1.25, -np.pi, 4.0), abs=1e-5)
    assert tuned.digest != program.digest
    assert check_source(tuned.source) is None


@pytest.mark.parametrize("how", ["values", "triples", "added"])
def test_policy_with_indirect_entries_runs_and_is_exported(how: str) -> None:
    program = Program.from_source(f"import numpy as np\n\n{NAMED[how]}\n{POLICY}").with_values({"k": -1.0})
    with Sandbox() as box:
        rollout = box.rollout(program.source, [gymnasium.make("CartPole-v1")], [Trial(0, program.values)])
    assert [episode.failure for episode in rollout.episodes] == [None]
    module: dict[str, Any] = {"np": np}
    exec(f"{program.source}\ngiven = {program.constructor_argument()}", module)  # noqa: S102 - written here
    assert module["given"]["k"] == -1.0
    assert module["given"]["W"].shape == (1, 4)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("W1 = np.random.randn(1, 4)\nPARAMS = {'W': (W1, -1, 1), 'k': (1.0, 0, 2)}", "'W' in PARAMS cannot be read"),
        ("W1 = np.zeros((1, 4))\nW1[0, 0] = 1.0\nPARAMS = {'W': (W1, -1, 1), 'k': (1.0, 0, 2)}", "(W1, -1, 1)"),
        ("PARAMS = {n: (1.0, 0, 2) for n in ('W', 'k')}", "write 'W', 'k' as"),
        ("PARAMS = {'k': (1.0, 0, 2)}\nfor n in 'VW':\n    PARAMS[n] = (np.zeros((1, 4)), -1, 1)", None),
    ],
)  # fmt: skip
def test_unreadable_entries_are_rejected_by_name(declared: str, message: str | None) -> None:
    """A policy that does not use them is accepted."""
    refused = check_source(f"import numpy as np\n\n{declared}\n{POLICY}")
    if message is not None:
        assert refused is not None
        assert message in refused.message
    else:
        assert refused is None
    alone = (
        f"import numpy as np\n\n{declared}\n\n\nclass Policy:\n    def act(self, obs):\n        return 0\n"
    )
    assert check_source(alone) is None
