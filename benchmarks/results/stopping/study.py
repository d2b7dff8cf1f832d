"""When is another round worth it? Rows from recorded runs, and what each rule would have saved and lost.

`python benchmarks/results/stopping/study.py DIR ...` reads the runs in some folders (recordings heard again with `--tune none
--option early_stop=false`) and the archives of benchmarks/results/model-in-the-loop, whose prompts tell where each round
stood, into rows.jsonl. Without folders it only prints the table of the rows that are there.
"""

import json
import math
import re
import sys
import tarfile
from pathlib import Path

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.run.config_file import load_config
from promptpo.core.journal import read_events
from promptpo.run.state import RunState
from promptpo.core.history import History
from promptpo.program.reference_policies import REFERENCE_POLICIES
from promptpo.core.stop import EQUAL_SHARE, distance

HERE = Path(__file__).parent
ROWS, ARCHIVES = HERE / "rows.jsonl", HERE.parent / "model-in-the-loop"
NUMBER = r"[-−\d.,e+]+"


def threshold(env_id):
    """Whether the environment names a return from which on it counts as solved."""
    import gymnasium

    try:
        make_env(Task(env_id)).close()  # which registers it
        return gymnasium.spec(env_id.rpartition(":")[2]).reward_threshold is not None
    except Exception:
        return False


def number(text):
    return float(text.rstrip(".,").replace(",", "").replace("−", "-"))


def heard(run):
    """After each round: the distance to the nearest other program, and what the round gained, both as in `EQUAL_SHARE`."""
    events = list(read_events(run / "journal.jsonl"))
    config = load_config(run / "config.toml")
    end, state = RunState.of(config, events), RunState(config)
    evidence = {one.id: one.evidence for one in end.candidates}
    rows, before = [], ""
    for event in events:
        state.add(event)
        if event.kind != "round":
            continue
        best = event.data["best"]
        history = History(
            [one.attempt for one in state.candidates],
            dict(state.history.validations),
            leader_id=best or "",
            reference_evaluations={n: state.history.reference_evaluations[n] for n in REFERENCE_POLICIES if n in state.history.reference_evaluations},
        )
        marks = [one.mean_return for one in history.references.values() if one.episodes]
        above = evidence[best].mean_return - max(marks, default=0.0) if best else math.nan
        changed = before and best and best != before
        gain = evidence[best].paired_difference(evidence[before]).mean / abs(above) if changed else 0.0
        steps = state.ledger.searched_steps
        rows.append({"distance": distance(history) if best else math.inf, "gain": gain, "steps": steps})
        before = best or before
    return rows, threshold(config.task.env_id)


def archived(path):
    """The same from the prompts of a run whose journal is gone: each tells what the round before came to."""
    with tarfile.open(path) as archive:
        names = sorted(n for n in archive.getnames() if re.search(r"\d{4}\.md$", n))
        prompts = [archive.extractfile(name).read().decode(errors="replace") for name in names]
        result = json.loads(archive.extractfile("result.json").read())
    stands = {}
    for text in prompts:
        round_ = re.search(r"Round (\d+) of \d+", text)
        best = re.search(rf"^#+ (\S+), the best so far\s*\n+(?:.*\n){{0,4}}?.*?Return ({NUMBER})", text, re.M)
        if not round_ or not best or int(round_[1]) in stands:
            continue
        marks = re.findall(rf"(?:andom actions earn|doing nothing earns|zero action[^.]*? earns) ({NUMBER})", text)
        open_ = re.findall(rf"^- (r\d+c\d+)t?:.*?no clear difference from \S+ \(({NUMBER}) ±", text, re.M)
        apart = re.findall(rf"^- (r\d+c\d+)t?:[^\n]*?, ({NUMBER})(?: ± {NUMBER})? (?:below|above) ", text, re.M)
        mean = number(best[2])
        above = mean - max((m for m in map(number, marks) if m > -1e4), default=0.0)
        near = [abs(number(gap)) for one, gap in [*open_, *apart] if one != best[1].rstrip("t")]
        near = min(near, default=math.inf) / above if above > 0 else math.inf
        stands[int(round_[1])] = {"best": best[1], "mean": mean, "above": above, "distance": near}
    last = (result.get("best") or {}).get("candidate"), (result.get("test") or {}).get("mean_return")
    rows, before = [], None
    for stand in [*(stands[n] for n in sorted(stands)), {"best": last[0], "mean": last[1], "distance": math.inf}]:
        gain = (stand["mean"] - before["mean"]) / abs(before["above"]) if before else 0.0
        gain = gain if before and before["best"] != stand["best"] else 0.0
        rows.append({"distance": stand["distance"], "gain": gain, "steps": None})
        before = stand
    return rows, threshold(result["env_id"])


def collected(folders):
    for folder in folders:
        for run in sorted(Path(folder).glob("*/journal.jsonl")):
            if (run.parent / "result.json").exists() and not run.parent.name.endswith("-old"):
                found, known = heard(run.parent)
                yield {"run": run.parent.name.removesuffix("-new"), "from": "heard", "threshold": known, "rounds": found}
    for path in sorted(ARCHIVES.glob("*.tar.xz")):
        if not path.name.startswith("goal"):  # the reward is another one in each
            try:
                found, known = archived(path)
            except (KeyError, TypeError, AttributeError):
                continue
            if len(found) > 1:
                yield {"run": path.name.removesuffix(".tar.xz"), "from": "archive", "threshold": known, "rounds": found}


def lost(row, ends):
    """Rounds, steps and gains after the round at which a rule ends a run."""
    rounds = row["rounds"]
    at = next((n for n in range(1, len(rounds)) if ends(n, rounds[n - 1], row)), len(rounds))
    later = sum(min(1.0, max(0.0, one["gain"])) for one in rounds[at:])
    steps = [(one["steps"] or 0) for one in rounds]
    return len(rounds) - at, steps[-1] - steps[at - 1], min(1.0, later)


RULES = {
    f"from round 2 on, within {EQUAL_SHARE:.0%}, no known threshold": lambda n, one, row: n > 1 and not row["threshold"] and one["distance"] <= EQUAL_SHARE,
    f"after round 1 too, within {EQUAL_SHARE:.0%}, no known threshold": lambda n, one, row: not row["threshold"] and one["distance"] <= EQUAL_SHARE,
    f"from round 2 on, within {EQUAL_SHARE:.0%}": lambda n, one, row: n > 1 and one["distance"] <= EQUAL_SHARE,
    f"also after round 1, within {EQUAL_SHARE:.0%}": lambda n, one, row: one["distance"] <= EQUAL_SHARE,
    "from round 2 on, within 1%": lambda n, one, row: n > 1 and one["distance"] <= 0.01,
    "from round 2 on, within 5%": lambda n, one, row: n > 1 and one["distance"] <= 0.05,
    "from round 2 on, within 10%": lambda n, one, row: n > 1 and one["distance"] <= 0.1,
    "after a round without gain": lambda n, one, row: n > 1 and one["gain"] <= 0,
}


def table(rows):
    print("| rule | runs | rounds saved | steps saved | lost, as a share of what the best earns | most |\n|---|---|--:|--:|--:|--:|")
    for name, ends in RULES.items():
        for source in ("heard", "archive"):
            mine = [row for row in rows if row["from"] == source]
            found = [lost(row, ends) for row in mine]
            rounds, played = sum(one[0] for one in found), sum(len(row["rounds"]) for row in mine)
            steps = sum(row["rounds"][-1]["steps"] or 0 for row in mine)
            share = f"{sum(one[1] for one in found) / steps:.0%}" if steps else "–"
            loss = [one[2] for one in found]
            print(f"| {name} | {len(mine)} {source} | {rounds} of {played} | {share} | {sum(loss) / len(loss):.4f} | {max(loss):.3f} |")
    for name, met in (("together", True), ("apart", False)):
        after = [
            min(1.0, max(0.0, row["rounds"][n]["gain"]))
            for row in rows
            for n in range(1, len(row["rounds"]))
            if (not row["threshold"] and row["rounds"][n - 1]["distance"] <= EQUAL_SHARE) == met
        ]
        print(f"{name}: {len(after)} rounds, {sum(one > EQUAL_SHARE for one in after)} gained, {sum(after) / len(after):.4f} in the mean")


if __name__ == "__main__":
    if sys.argv[1:]:
        lines = [json.dumps(row, default=str).replace("Infinity", "1e999") for row in collected(sys.argv[1:])]
        ROWS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table([json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()])
