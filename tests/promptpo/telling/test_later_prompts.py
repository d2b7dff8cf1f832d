"""What the prompts of later rounds say, and the bound on their length."""

from dataclasses import replace
from typing import Any

import pytest

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.records import SEEDS_PER_PURPOSE, Diagnosis, Told
from promptpo.search.history import History
from promptpo.search.strategies import Asked
from promptpo.spec.promises import Promise
from promptpo.telling import prompting
from promptpo.telling.known import Known
from promptpo.telling.standing import Where, seconds_in_words
from tests.promptpo.telling.examples import ALIKE, BEST, OLD, PARTNER, WRITTEN, attempt, known, plan


def test_every_candidate_of_the_last_round_is_told_failures_first() -> None:
    """The crash with its error, then the others with their worst episode; who behaves alike in one sentence."""
    text = prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    others = text[text.index("# The other candidates") : text.index("# Earlier candidates")]
    assert others.index("r2c3: crashed: line 3: IndexError") < others.index("r2c1")
    assert "r2c1 cannot be told from r1c2 (same return in all 3 shared episodes)" in others
    assert "r2c2:" not in others  # told by what tuning made of it
    assert "20 ± " not in others


def test_of_two_programs_that_differ_in_numbers_one_is_printed() -> None:
    """The tuned one; what its numbers were stands beside them, with a mark at a bound."""
    text = prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    assert text.count("class Policy:") == 1
    assert "Before -> after: gain 1.2 -> 3.7 at its upper bound." in text
    assert "the first two episodes were cut" in text
    merged = prompting.policy_prompt(
        plan("merge", parents=(BEST, WRITTEN), aspect="x"), known(), max_tokens=10_000
    )
    assert merged.count("class Policy:") == 1
    assert "The same program as r2c2t but for these numbers:\n- gain 1.2 (r2c2t: 3.7)" in merged


def test_one_number_is_told_of_a_candidate() -> None:
    """Training and validation together, everywhere; never the training mean alone."""
    text = prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    assert "Return 75 ± 19 over 4 episodes" in text
    assert "v1: 80" in text
    assert "73.3" not in text


def test_references_and_what_is_left_are_told() -> None:
    """What knows nothing earns, steps, calls, tuning, time."""
    text = prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    for words in (
        "Round 3 of 5",
        "60,000 of 100,000 environment steps and 17 model calls",
        "about 90 episodes of 100 steps, or more shorter ones, for all programs together, the best so far among them",
        "Random actions earn 10 ± 0.58 over 3 episodes; doing nothing earns 8 over 1 episode",
        "solved from a mean return of 195",
    ):
        assert words in text


def test_a_legend_stands_beside_the_summaries_that_need_it() -> None:
    """Of the class that wrote them; of one that wrote none of them there is none."""
    told = known()
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=10_000)
    assert "leans = the largest lean, rad" in text
    other = Known(told.history, told.where, {"r9.c1": "unused"})
    assert "unused" not in prompting.policy_prompt(plan("improve", aspect="x"), other, max_tokens=10_000)


@pytest.mark.parametrize("bound", [2000, 600, 400])
def test_the_history_is_shortened_to_fit(bound: int) -> None:
    """The best attempt's code goes last; the request itself always stays."""
    many = [attempt(f"r2c{n}", float(n), float(n + 1), float(n + 3)) for n in range(9, 0, -1)]
    told = Known(History(many, rounds=2, leader_id="r2c9"), Where(3, 5))
    text = prompting.policy_prompt(plan("improve", parents=many[:1], lines=()), told, max_tokens=bound)
    assert prompting.tokens(text) <= bound
    assert "return 9 + obs" in text
    assert "does better than r2c9" in text


def test_a_prompt_aims_at_a_length() -> None:
    """Much that is known is told in few words, and what matters stays."""
    wordy = "stood and fell and stood again " * 60
    told = tuple(
        Told(role, n, 9.0 + n, 100, "terminated", wordy) for n, role in enumerate(("worst", "median", "best"))
    )
    many = [attempt(f"r2c{n}", n + 1.0, n + 3.0, diagnosis=Diagnosis(told)) for n in range(9, 0, -1)]
    text = prompting.policy_prompt(
        plan("improve", parents=many[:1], lines=()),
        Known(History(many, rounds=2, leader_id="r2c9"), Where(3, 5)),
        max_tokens=100_000,
        system_length=5000,
    )
    assert 3000 < len(text) < 7000
    assert "r2c1: 3 ± 1 over 2 episodes" in text
    assert text.count("stood and fell") > 9


def test_the_last_round_is_offered_no_new_feedback_class() -> None:
    """It would be in force from the next round on, and there is none."""
    told = known()
    last = replace(told, where=replace(told.where, round=5))
    asked = plan("improve", aspect="Speed.", may_revise=True)
    assert "second ```python fence" in prompting.policy_prompt(asked, told, max_tokens=10_000)
    assert "second ```python fence" not in prompting.policy_prompt(asked, last, max_tokens=10_000)


def test_only_slow_programs_hear_of_their_seconds() -> None:
    """Less than ten milliseconds a call are no matter, and differ from machine to machine."""
    quick = attempt("r1c1", 1.0)
    slow = replace(quick, evaluation=replace(quick.evaluation, policy_seconds=5.0))
    assert seconds_in_words(quick) == ""
    assert seconds_in_words(slow) == "A call of `act` took about 50 ms (allowed: 1 s, and 60 s an episode)."


def test_only_a_candidate_that_broke_shows_how_it_began() -> None:
    """Of others, however bad, the feedback class says more in less room."""
    began = Diagnosis(
        ALIKE.diagnosis.episodes, "", "feedback", "How it began (start of 9 steps):\nstep|lean\n0|0.1"
    )
    broken = attempt("r2c4", outcome="crashed", error="ValueError: x", diagnosis=began)
    poor = attempt("r2c5", 1.0, 2.0, 3.0, diagnosis=began)
    told = known(OLD, PARTNER, WRITTEN, BEST, broken, poor)
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=10_000)
    others = text[text.index("# The other candidates") : text.index("# Earlier candidates")]
    assert others.count("How it began") == 1
    assert others.index("r2c4:") < others.index("How it began") < others.index("r2c5:")
    assert "leans 50" in others[others.index("r2c5:") :]


@pytest.mark.parametrize(("last", "shown"), [(60.0, True), (21.0, False)])
def test_an_episode_in_which_a_loser_beats_the_best_is_told(last: float, shown: bool) -> None:
    """What it did there, in the words of the feedback class; a return that is hardly above says nothing."""
    told = tuple(
        Told(role, seed, value, 100, "terminated", f"words on the {role} one")
        for role, seed, value in (("worst", 0, 10.0), ("best", 2, last))
    )
    loser = attempt("r2c5", 10.0, 15.0, last, diagnosis=Diagnosis(told, by="feedback"))
    asked = plan("improve", aspect="x")
    text = prompting.policy_prompt(asked, known(OLD, PARTNER, WRITTEN, BEST, loser), max_tokens=10_000)
    block = "Where it beats r2c2t: The best training episode (start 3, return 60, 100 steps, terminated):"
    assert (block in text, "words on the best one" in text) == (shown, shown)
    assert "words on the worst one" in text


def test_thoughts_of_giving_up_are_told() -> None:
    """One of three answers, with its reason."""
    told = known()
    told.history.thoughts = (("all poles stand",), 3)
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=10_000)
    assert '1 of the 3 answers of the last round saw no way to improve: "all poles stand".' in text


def test_a_replaced_feedback_class_is_told_apart() -> None:
    """Whose words stand where, since when, and that another will write the next ones."""
    told = known()
    newer = replace(WRITTEN, diagnosis=replace(WRITTEN.diagnosis, by="r1.c1"))
    told.history.attempts = [OLD, PARTNER, ALIKE, newer, BEST]
    both = Known(
        told.history,
        told.where,
        {"feedback": "a = b", "r1.c1": "c = d", "r2.c1": "e = f"},
        {"r1.c1": 2, "r2.c1": 3},
    )
    text = prompting.policy_prompt(plan("improve", aspect="x"), both, max_tokens=10_000)
    assert "In the summaries of r2c2t, r2c1: a = b" in text
    assert "In the summaries of r2c2 (by the feedback class in force since round 2): c = d" in text
    assert "Since round 3 another feedback class is in force" in text
    assert "e = f" not in text


def test_code_and_legend_stay_whole_where_room_is_short() -> None:
    """Labels are explained as long as they are shown, and no program is cut in the middle."""
    told = known()
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=1000)
    assert "return int(self.gain * obs[0] > 0)\n```" in text
    assert "leans = the largest lean, rad" in text


def test_what_every_episode_earns_is_shown_by_the_usual_and_the_best_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where room is short, a request about the level shows the median and the best episode; one about bad starts the worst."""
    monkeypatch.setattr(prompting, "LEAST", 2_400)
    told = tuple(
        Told(role, n, 9.0 * (n + 1), 100, "reached the horizon", f"{role} words; " * 60)
        for n, role in enumerate(("worst", "median", "best"))
    )
    best = replace(
        BEST, diagnosis=Diagnosis(told, "worst table\na\n1", usual="Steps 40 to 49, in its middle:\nb\n2")
    )
    for aspect, shown, left in (
        ("Level: more.", "median words", "worst words"),
        ("Robustness: more.", "worst words", "median words"),
    ):
        asked = plan("improve", parents=(best,), aspect=aspect)
        text = prompting.policy_prompt(asked, known(OLD, best), max_tokens=20_000, system_length=9000)
        assert shown in text
        assert left not in text
        assert "best words" in text
    asked = plan("improve", parents=(best,), aspect="Level: more.")
    text = prompting.policy_prompt(asked, known(OLD, best), max_tokens=20_000)
    assert "# From the median training episode of r2c2t\n\nSteps 40 to 49" in text
    assert "The worst training episode (start 1, " in text


def test_the_one_fall_is_shown_in_any_request() -> None:
    """Where the others lasted until the horizon: its summary, and the steps that end with it, however short room is."""
    ends = (("worst", "terminated"), ("median", "reached the horizon"), ("best", "reached the horizon"))
    told = tuple(
        Told(role, n, 9.0 * n, 100, how, f"{role} words; " * 60) for n, (role, how) in enumerate(ends)
    )
    table = "Steps 80 to 99, up to where the episode was terminated:\nstep|lean|reward\n" + "\n".join(
        f"{t}|0.2|1" for t in range(80, 100)
    )
    best = replace(
        BEST, diagnosis=Diagnosis(told, f"{table}\n100 (seen last)|0.9|", usual="Steps 40 to 49:\nb\n2")
    )
    for aspect in ("Level: more.", "Weakest part: it.", "Robustness: more."):
        asked = plan("improve", parents=(best,), aspect=aspect)
        text = prompting.policy_prompt(asked, known(OLD, best), max_tokens=20_000, system_length=9000)
        assert "worst words" in text
        assert "100 (seen last)|0.9|" in text


def test_a_way_to_fail_is_told_once() -> None:
    """Who ends early, on which starts and when, in one line; not in the entry of each."""

    def early(id_: str, *ends: int) -> Any:
        made = attempt(id_, *(5.0 for _ in ends))
        episodes = tuple(replace(e, steps=n) for e, n in zip(made.evaluation.episodes, ends, strict=True))
        return replace(made, evaluation=replace(made.evaluation, episodes=episodes))

    told = known(OLD, WRITTEN, BEST, early("r2c4", 20, 30, 100), early("r2c5", 40, 41, 42))
    text = prompting.policy_prompt(plan("improve", aspect="x"), told, max_tokens=10_000)
    assert (
        "Ends before half of r2c2t's steps, with less: r2c4 on 2 of 3 starts: 1, 2 (at step 20 to 30); "
        "r2c5 on 3 of 3 starts (at step 40 to 42)." in text
    )
    assert text.count("before half of") == 1


def test_a_strategy_is_told_with_the_numbers_that_were_measured() -> None:
    """As written beside tuned ones is no fair comparison, and says so."""
    told = known()
    told.history.asked = {
        "r1c2": Asked("different", strategy="look far ahead"),
        "r2c2": Asked("different", strategy="push where it leans"),
    }
    tunable = replace(
        PARTNER, candidate=replace(PARTNER.candidate, source=WRITTEN.candidate.source + "# other")
    )
    told.history.attempts[told.history.attempts.index(PARTNER)] = tunable
    text = prompting.policy_prompt(plan("fresh", strategy="x"), told, max_tokens=10_000)
    assert '"look far ahead" (r1c2): numbers as written: no clear difference from r2c2t (tuned) (' in text
    assert '"push where it leans" (r2c2): r2c2t, 75' in text


def test_no_comma_stands_before_a_bracket() -> None:
    """What tuning changed reads like a sentence, whatever the difference is."""
    text = prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    assert "r2c2 with the numbers as written" in text
    assert ", (" not in text


def test_a_promise_that_nobody_has_seen_kept_is_told() -> None:
    """Beside what steps have earned."""
    told = known(promises=(Promise(0.0, "Reaching the goal gives a large bonus."),))
    poor = replace(BEST, diagnosis=replace(BEST.diagnosis, rewards=(-10.0, -0.1)))
    told.history.attempts = [OLD, WRITTEN, poor]
    text = prompting.policy_prompt(plan("improve", parents=(poor,), aspect="x"), told, max_tokens=10_000)
    assert (
        "No step of any program has earned more than -0.1 so far (least -10), but the task text says: "
        '"Reaching the goal gives a large bonus."' in text
    )
    kept = replace(poor, diagnosis=replace(poor.diagnosis, rewards=(-10.0, 1000.0)))
    told.history.attempts = [OLD, WRITTEN, kept]
    text = prompting.policy_prompt(plan("improve", parents=(kept,), aspect="x"), told, max_tokens=10_000)
    assert "Single steps of programs have earned from -10 to 1000 so far." in text


def test_what_a_table_shows_already_is_not_shown_twice() -> None:
    """Without a feedback class the words on an episode are a table of its steps."""
    told = (
        Told("worst", 0, 1.0, 5, "terminated", "step|x\n0|1"),
        Told("best", 1, 9.0, 5, "terminated", "step|x\n0|2"),
    )
    began = "How it began (start of 5 steps):\nstep|x\n0|1"
    plain = Diagnosis(told, "Steps 0 to 4, the last ones:\nstep|x\n0|1", "", began)
    best, poor = replace(BEST, diagnosis=plain), attempt("r2c4", 1.0, 2.0, 3.0, diagnosis=plain)
    asked = plan("improve", parents=(best,), aspect="x")
    text = prompting.policy_prompt(asked, known(OLD, PARTNER, WRITTEN, best, poor), max_tokens=10_000)
    assert "Steps 0 to 4" not in text
    others = text[text.index("# The other candidates") : text.index("# Earlier candidates")]
    assert others.count("step|x") == 1
    named = replace(best, diagnosis=replace(plain, by="feedback"))
    asked = plan("improve", parents=(named,), aspect="x")
    text = prompting.policy_prompt(asked, known(OLD, PARTNER, WRITTEN, named, poor), max_tokens=10_000)
    assert "Steps 0 to 4" in text


def test_no_start_is_bad_where_all_begin_alike() -> None:
    """The prompt says that they do, and names no bad ones."""
    scattered = attempt("r2c2t", 300.0, 298.0, -9.0, 299.0, 301.0, diagnosis=BEST.diagnosis)
    asked = plan("improve", parents=(scattered,), aspect="x")
    text = prompting.policy_prompt(asked, known(OLD, WRITTEN, scattered), max_tokens=10_000)
    assert "far worse than the median" in text
    alike = known(OLD, WRITTEN, scattered, one_start=True)
    text = prompting.policy_prompt(asked, alike, max_tokens=10_000)
    assert "All episodes begin with the same observation." in text
    assert "far worse than the median" not in text


def test_an_episode_of_validation_is_not_called_one_of_training() -> None:
    """A bad start that only the better programs played may be the worst one shown."""
    seen = tuple(
        replace(told, seed=10_000_000) if told.role == "worst" else told for told in BEST.diagnosis.episodes
    )
    best = replace(BEST, diagnosis=replace(BEST.diagnosis, episodes=seen))
    asked = plan("improve", parents=(best,), aspect="Robustness: x.")
    text = prompting.policy_prompt(asked, known(OLD, WRITTEN, best), max_tokens=10_000)
    assert "The worst episode (start v1, " in text
    assert "# From the worst episode of r2c2t" in text
    assert "The best training episode (start 2, " in text


def test_what_became_of_named_starts_is_told() -> None:
    """Before and now, beside the difference on all starts, where a candidate played the bad starts of the best."""
    told = known()
    history = told.history
    seeds = [e.seed for e in BEST.evaluation.episodes]
    low = Evaluation("ok", tuple(EpisodeRecord(seed, 95.0, 100) for seed in (*seeds, 50)), 400)
    bad = replace(low, episodes=(*low.episodes, EpisodeRecord(SEEDS_PER_PURPOSE + 6, -20.0, 100)))
    best = replace(BEST, evaluation=low)
    history.attempts[history.attempts.index(BEST)] = best
    history.looks = {best.id: [replace(bad, episodes=bad.episodes[-1:])]}
    history.asked = {"r2c1": Asked("improve", best.id, "", "Robustness")}
    history.alike.clear()
    other = next(a for a in history.attempts if a.id == "r2c1")
    assert history.runs(other)
    history.revisits = {"r2c1": (EpisodeRecord(SEEDS_PER_PURPOSE + 6, 210.0, 100),)}
    text = prompting.policy_prompt(plan("improve", parents=(best,), aspect="x"), told, max_tokens=10_000)
    others = text[text.index("# The other candidates") :]
    assert f"on the bad starts of {best.id}: v7: -20 before, now 210" in others
    asked = text[text.index(f"# What {best.id} was to be improved in before") :]
    assert f"on the bad starts of {best.id}: v7: -20 before, now 210" in asked.split("\n#")[0]


def test_an_experiment_is_told_what_its_own_trajectory_holds() -> None:
    """Where observations are pictures a feedback class sees what was perceived, and an experiment what was seen."""
    seeing = known()
    seeing = replace(seeing, pictures=True, probe="one episode")
    probing = prompting.policy_prompt(plan("improve", aspect="x"), seeing, max_tokens=10_000)
    asked = probing[probing.index("a class `Probe`") :]
    assert "T+1" in asked
    assert "perceive" not in asked
    both = prompting.policy_prompt(plan("improve", aspect="x", may_revise=True), seeing, max_tokens=10_000)
    asked = both[both.index("a class `Probe`") :]
    assert asked.index("perceive") < asked.index("For `Probe` it is a dict")


def test_tuned_numbers_are_spoken_of_where_there_are_some() -> None:
    """The last request for a program that was never tuned does not ask to keep what was tuned."""
    tuned = prompting.policy_prompt(plan("improve", aspect="x", final=True), known(), max_tokens=10_000)
    assert "keep the numbers that were tuned" in tuned
    written = plan("improve", aspect="x", final=True, parents=(WRITTEN,))
    assert "the numbers that were tuned" not in prompting.policy_prompt(written, known(), max_tokens=10_000)


def test_a_policy_that_does_not_say_what_it_sees_is_told_that_it_may() -> None:
    """Where observations are pictures, and only of programs that have no ``perceive``."""
    seeing = replace(known(), pictures=True)
    told = prompting.policy_prompt(plan("improve", aspect="x"), seeing, max_tokens=10_000)
    assert told.count("r2c2t has no method `perceive`") == 1
    assert "perceive" not in prompting.policy_prompt(plan("improve", aspect="x"), known(), max_tokens=10_000)
    says = attempt(
        "r2c1",
        1.0,
        source="class Policy:\n    def perceive(self, obs):\n        return {}\n\n    def act(self, obs):\n        return 0\n",
    )
    asked = plan("improve", aspect="x", parents=(says,))
    assert "no method" not in prompting.policy_prompt(asked, seeing, max_tokens=10_000)
