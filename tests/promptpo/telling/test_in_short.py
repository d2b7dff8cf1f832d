"""What is told of candidates in a few words: how their returns differ, how they failed, what they tried."""

from dataclasses import replace
from typing import Any

from promptpo.run.records import Diagnosis, Told
from promptpo.search.strategies import Asked
from promptpo.telling import prompting
from promptpo.telling.programs import at_bounds
from promptpo.telling.shortening import in_a_line
from promptpo.telling.standing import Where
from tests.promptpo.telling.examples import BEST, OLD, PARTNER, TUNABLE, WRITTEN, attempt, known, plan


def prompt(*attempts: Any, **more: Any) -> str:
    """A request to improve the best of these."""
    asked = plan("improve", aspect="x", **more)
    return prompting.policy_prompt(asked, known(*attempts), max_tokens=20_000, system_length=9000)


def line_of(text: str, id_: str) -> str:
    """What a prompt says of a candidate, up to the next one."""
    return text[text.index(f"- {id_}: ") :].split("\n- ", maxsplit=1)[0].split("\n\n", maxsplit=1)[0]


def fallen(id_: str) -> Any:
    """A candidate of which two of three episodes fall."""
    told = (
        Told("worst", 0, -44.0, 91, "terminated", "ran 3 m, fell at step 91"),
        Told("best", 1, 166.0, 1000, "reached the horizon", "ran 160 m upright"),
    )
    made = attempt(id_, -44.0, 166.0, -31.0, diagnosis=Diagnosis(told, by="feedback"))
    ends = ((91, True), (1000, False), (161, True))
    episodes = tuple(
        replace(e, steps=n, terminated=end)
        for e, (n, end) in zip(made.evaluation.episodes, ends, strict=True)
    )
    return replace(made, evaluation=replace(made.evaluation, episodes=episodes))


def test_a_mean_that_hides_falls_is_told_by_start() -> None:
    """Of a program of the last round and of one told in a line only: each return, where it fell, the best beside the worst."""
    for id_, lines in (("r2c5", ()), ("r1c5", (fallen("r1c5"),))):
        told = line_of(prompt(OLD, WRITTEN, BEST, fallen(id_), lines=lines), id_)
        assert "Return by start: 1: -44 (ended at 91), 2: 166, 3: -31 (ended at 161)." in told
        assert "fell at step 91" in told
        assert "ran 160 m upright" in told


def test_of_steady_programs_the_mean_is_enough() -> None:
    """What differs by little, or by much less than programs do, takes no room."""
    told = line_of(prompt(OLD, WRITTEN, BEST, attempt("r2c5", 50.0, 55.0, 52.0)), "r2c5")
    assert "by start" not in told
    assert "Best (" not in told


def test_a_line_tells_how_it_failed() -> None:
    """Though that stands behind what there is room for; nothing changes where it stands before."""
    text = "T1000 R-337 fwd-94 ctl-243\nv10 0.0 -0.1 -0.0 -0.1 -0.1 -0.1 -0.0 -0.1 -0.2 -0.1\nworst20 -0.7, flip at step 120, then on its back"
    line = in_a_line(text, 80)
    assert line.startswith("T1000 R-337")
    assert "flip at step 120" in line
    assert len(line) <= 84
    assert in_a_line("fell at 9; " + "speed 1; " * 30, 60).startswith("fell at 9; speed 1")
    assert "flip" in in_a_line(text, 400)


def test_a_tie_says_what_was_tried() -> None:
    """So that nobody tries it again."""
    told = prompt()
    assert (
        "r2c1 cannot be told from r1c2 (same return in all 3 shared episodes). It tried: The idea of r2c1."
        in told
    )


def test_tuned_numbers_are_named_in_short() -> None:
    """Those that changed most, of a candidate that is another's program with other numbers."""
    best = replace(PARTNER, candidate=replace(PARTNER.candidate, id="r2c9"))
    told = line_of(prompt(OLD, best, WRITTEN, BEST, parents=(best,)), "r2c2t")
    assert "r2c2 with tuned numbers: gain 1.2 -> 3.7 at its upper bound." in told


def test_numbers_at_a_bound_are_named() -> None:
    """Also those of the best that tuning did not move or that nothing is known of."""
    source = TUNABLE.replace("(0.5, 0.0, 1.0)", "(0.0, 0.0, 1.0)")
    assert at_bounds(source) == "lead (lower)"
    best = replace(BEST, candidate=replace(BEST.candidate, tuned={}, parents=(), source=source))
    assert "At a bound: lead (lower)." in prompt(OLD, best, parents=(best,))
    assert "At a bound" not in prompt(OLD, WRITTEN, BEST)  # said beside what tuning changed


def test_what_steps_are_kept_for_is_told() -> None:
    """Where many are left and hardly any for tuning."""
    few = Where(3, 4, steps=131_072, steps_left=41_775, tunes=True, tuning_steps=5000, length=1000.0)
    assert (
        "(about 5 episodes; the rest is kept for the episodes of new programs and for the last choice)"
        in few.in_words()
    )
    last = replace(few, round=4, steps_left=4000)
    assert "kept for" not in last.in_words()


def test_what_a_strategy_may_reach_is_told_as_a_guess() -> None:
    """In the request and among those tried; the search reads its own form of it."""
    told = known()
    told.history.asked = {"r1c2": Asked("different", strategy="look far ahead (up to 5,000)")}
    text = prompting.policy_prompt(plan("different", strategy="hop (up to 3000)"), told, max_tokens=10_000)
    assert '"hop (guessed: up to 3000)"' in text
    assert '"look far ahead (guessed: up to 5,000)"' in text
    assert "(up to " not in text


def test_short_summaries_of_the_worst_and_the_best_stay_whole() -> None:
    """Where code takes the room: their last lines say most, and cost less than the code does."""
    lines = "\n".join(f"line {n}: what happened there, in a few words" for n in range(8))
    told = tuple(
        Told(role, n, 9.0 * (n + 1), 100, "terminated", f"{role}\n{lines}")
        for n, role in enumerate(("worst", "median", "best"))
    )
    long = TUNABLE + "".join(
        f"# {n} is another remark on what this program does and why\n" for n in range(200)
    )
    best = replace(
        BEST, candidate=replace(BEST.candidate, source=long), diagnosis=Diagnosis(told, by="feedback")
    )
    for aspect in ("Level: more.", "Robustness: more.", "Simplicity: less."):
        text = prompting.policy_prompt(
            plan("improve", parents=(best,), aspect=aspect),
            known(OLD, best),
            max_tokens=20_000,
            system_length=9000,
        )
        for role in ("worst", "best"):
            assert f"{role}\n{lines}" in text
