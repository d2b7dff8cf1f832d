"""What a losing descendant of a program changed is told, so that it is not tried again."""

from dataclasses import replace
from typing import Any

from promptpo.telling.descent import changed

from promptpo.search.strategies import Asked
from promptpo.telling import prompting
from tests.promptpo.telling.examples import BEST, OLD, TUNABLE, attempt, known, plan

BRAKES = TUNABLE.replace("return int(self.gain * obs[0] > 0)", "return int(self.gain * obs[0] + obs[1] > 0)")
SAID = "It falls late. I let it brake by its speed, since it tips over."


def told_of(source: str, **more: Any) -> str:
    """What a request says of a loser of the last round that was to improve the best."""
    loser = attempt("r2c3", 1.0, 2.0, source=source, **more)
    told = known(OLD, BEST, loser)
    told.history.asked["r2c3"] = Asked("improve", BEST.id, respect="Level")
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=10_000)
    return text[text.index("- r2c3: ") :].split("\n#")[0]


def test_few_changed_lines_are_shown() -> None:
    """As out and in, without those that differ in comments, layout or numbers."""
    other = BRAKES.replace("class Policy:", "# a policy\nclass Policy:").replace("(0.5, 0.0", "(0.7, 0.0")
    text = told_of(other, prose=SAID)
    assert f"Against {BEST.id}, beside numbers:" in text
    assert "\n  - return int(self.gain * obs[0] > 0)\n  + return int(self.gain * obs[0] + obs[1] > 0)" in text
    assert "PARAMS" not in text
    assert "# a policy" not in text


def test_numbers_alone_are_told_as_numbers() -> None:
    """A program that differs in nothing else needs no lines of code."""
    text = told_of(TUNABLE.replace("(0.5, 0.0", "(0.9, 0.0"), prose=SAID)
    assert f"{BEST.id} with other numbers: " in text
    assert "lead 0.5 -> 0.9" in text


def test_of_much_that_changed_its_author_speaks() -> None:
    """In the last sentences, which say what was changed; the docstring, which may be the parent's, where there are none."""
    long = BRAKES + "\n".join(f"\n    def helper_{n}(self):\n        return {n}" for n in range(9))
    assert f"Against {BEST.id}: {SAID}" in told_of(long, prose=SAID)
    assert "Push where it leans." in told_of(long)
    said = changed(attempt("r2c3", 1.0, source=long, prose=SAID), BEST, 40)
    assert said == f"Against {BEST.id}: I let it brake by its speed, since it tips over."


def test_a_fresh_program_is_told_by_its_idea() -> None:
    """What was not to improve anything has nothing to be held against."""
    loser = attempt("r2c3", 1.0, 2.0, source=BRAKES, prose=SAID)
    told = known(OLD, BEST, loser)
    told.history.asked["r2c3"] = Asked("fresh", BEST.id)
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=10_000)
    assert "Against" not in text
    assert "Push where it leans." in text[text.index("- r2c3: ") :]


def test_an_earlier_one_has_a_line() -> None:
    """Of rounds before the last what was changed is told without code, in one line."""
    early = attempt("r1c1", 1.0, 2.0, source=BRAKES, prose=SAID)
    told = known(early, BEST)
    told.history.asked["r1c1"] = Asked("improve", BEST.id)
    asked = replace(plan("improve", aspect="x"), lines=(early,))
    text = prompting.policy_prompt(asked, told, max_tokens=10_000)
    line = next(line for line in text.splitlines() if line.startswith("- r1c1: "))
    assert line.endswith(f"Against {BEST.id}: {SAID}")
