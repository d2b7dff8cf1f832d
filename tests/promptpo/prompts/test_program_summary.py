"""Summaries of programs, shown beside their code."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from promptpo.core.candidate import Attempt, Candidate
from promptpo.prompts.program_summary import change, changes, idea
from promptpo.rollouts.evaluation import Evaluation

PROGRAM = '''"""Push where it leans. Then brake, with a gain."""
PARAMS = {"gain": (1.0, 0.0, 5.0), "lead": (0.5, -1.0, 1.0), "same": (3.0, 0.0, 9.0)}


class Policy:
    def __init__(self, params):
        self.gain = params["gain"]

    def act(self, obs):
        return int(self.gain * obs[2] > -0.5)
'''


def attempt(source: Any, prose: str = "") -> Any:
    """Return an attempt with this source."""
    return Attempt(Candidate("r1c1", source, 1), Evaluation("ok", (), 0), prose=prose)


def test_idea_is_the_docstring_in_whole_sentences() -> None:
    """The model's prose is used only without a docstring."""
    assert idea(attempt(PROGRAM, "r1c1 fell over."), 30) == "Push where it leans."
    assert idea(attempt(PROGRAM.replace("Push where it leans", "Push")), 19) == "Push."
    assert (
        idea(attempt(PROGRAM.replace("Push where it leans", "Push")), 34) == "Push. Then brake, with a gain."
    )
    assert idea(attempt(PROGRAM), 200) == "Push where it leans. Then brake, with a gain."
    assert idea(attempt("class Policy:\n    'Leans.'\n", "x"), 30) == "Leans."
    assert idea(attempt("class Policy: pass", "I push it to the left, always"), 17) == "I push it to …"


@given(st.text("CHANGE: *-\nab.", max_size=80))
def test_change_is_the_models_line_or_else_the_idea(prose: str) -> None:
    """In any prose, the CHANGE line is used if it stands on a line of its own."""
    assert change(attempt(PROGRAM, prose), 60)
    assert change(attempt(PROGRAM, "ab\n**CHANGE:** it leaned; brake.\nab"), 60) == "it leaned; brake."


def test_changed_numbers_are_listed_by_relative_change() -> None:
    """A change is measured as a share of its range; arrays have the number of changed entries."""
    tuned = PROGRAM.replace("(1.0, 0.0", "(1.5, 0.0").replace("(0.5, -1.0", "(-0.5, -1.0")
    assert changes(tuned, PROGRAM) == "lead 0.5 -> -0.5, gain 1 -> 1.5"
    assert changes(PROGRAM, PROGRAM) == ""
    array = 'import numpy as np\nPARAMS = {"W": (np.zeros(3), -1.0, 1.0)}\n'
    assert (
        changes(array.replace("zeros(3)", "array([0.0, 0.5, 0.25])"), array) == "2 numbers of W (3 numbers)"
    )
