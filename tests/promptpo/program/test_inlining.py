"""Inlining of `looking` into policies, which then stand alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from promptpo.program import Program
from promptpo_sandbox import check_source

PICTURE = np.zeros((30, 40, 3), np.uint8)
PICTURE[5:9, 10:16] = (250, 0, 0)
PICTURE[20:22, 30:33] = (250, 0, 0)

POLICIES = {
    "chosen": '''"""Looks."""
import numpy as np
from looking import components, coloured


class Policy:
    def act(self, obs):
        return components(coloured(obs, (250, 0, 0)))[1]["area"]
''',
    "renamed": """from looking import components as pieces, coloured as near  # both
class Policy:
    def act(self, obs):
        return pieces(near(obs, (250, 0, 0)))[1]["area"]
""",
    "as a module": """import math, looking

class Policy:
    def act(self, obs):
        components = looking.components(looking.coloured(obs, (250, 0, 0)))
        return components[1]["area"] + int(math.floor(0.5))
""",
    "in a function": """class Policy:
    def act(self, obs):
        import looking as lk
        from looking import coloured
        return lk.components(coloured(obs, (250, 0, 0)))[1]["area"]
""",
    "names in use": '''"""Looks."""
from __future__ import annotations

from looking import components, coloured

np = 3
labels = {"a": 1}


def threshold(picture, *limits):
    return picture


class Policy:
    def act(self, obs):
        return components(coloured(obs, (250, 0, 0)))[np - 2]["area"] + threshold(0, labels)
''',
    "a name bound twice": """from looking import components, coloured
if True:
    from looking import grey as coloured
from looking import coloured as near

class Policy:
    def act(self, obs):
        return components(near(obs, (250, 0, 0)) & (coloured(obs) > 1))[1]["area"]
""",
}


@pytest.mark.parametrize("name", POLICIES)
def test_inlined_policy_acts_alike(name: str) -> None:
    """Its imports may have any form, and its names may collide."""
    program = Program.from_source(POLICIES[name]).inlined
    assert "import looking" not in program.source
    assert "from looking" not in program.source
    assert check_source(program.source) is None
    namespace: dict[str, Any] = {"__name__": "alone"}
    exec(program.source, namespace)  # noqa: S102 - text of this file
    assert namespace["Policy"]().act(PICTURE) == 6
    assert program.inlined.source == program.source


def test_only_used_functions_are_inlined() -> None:
    """They precede the policy's own imports."""
    text = Program.from_source(POLICIES["chosen"]).inlined.source
    assert [line.split("(")[0] for line in text.splitlines() if line.startswith("def ")] == [
        "def looking_threshold",
        "def looking_coloured",
        "def looking_labels",
        "def looking_components",
    ]
    assert text.startswith('"""Looks."""\nimport numpy as looking_np\n')
    assert text.index("looking_components(") < text.index("components = looking_components")


def test_other_policies_are_unchanged() -> None:
    for text in (
        "class Policy:\n    def act(self, obs):\n        looking = 1\n        return looking\n",
        "from looking import (",
    ):
        program = Program.from_source(text)
        assert program.inlined is program
