"""Where does the regret that is left come from: from the choice, from the episodes played, or from their number?

`python benchmarks/results/returns/regret.py` simulates the runs of `study.py` as the search plays them: nine programs in three rounds;
3, 5 or 8 training episodes; comparisons on 4 or 10 starts a round; then none or 40 more episodes. It writes `regret.csv`, a row for each
recorded run and way:

    champion           the race before the model: a champion stays until another is ahead by a standard error
    model              as the search does it
    same episodes      the episodes of `model`, the choice by someone who knows all variances
    true variances     comparisons and choice by someone who knows all variances
    model, no end      as `model`, but the last comparison goes on while there are episodes
"""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
from study import World, tables

from promptpo.core.returns import FLOOR, Returns, _solve

HERE = Path(__file__).parent
REPEATS, STARTS, PROGRAMS, LEAST = 12, 140, 9, 0.001


class Known(Returns):
    """The model with the true variances."""

    def __init__(self, table, run):
        self._run = run
        super().__init__(table)

    def _fit(self, values):
        played = self._played
        means = values.sum(axis=1) / played.sum(axis=1)
        centre = float(np.median(means))
        unit = float(np.abs(values - centre)[played].max()) or 1.0
        noise = np.maximum((self._run.size[[int(name) for name in self.programs]] / unit) ** 2, FLOOR)
        between = np.full(len(values), max(self._run.between / unit**2, FLOOR))
        found = _solve(
            np.where(played, (values - centre) / unit, 0.0),
            played,
            noise,
            max((self._run.starts / unit) ** 2, FLOOR),
            between,
        )
        self._means, self._errors = unit * found.programs + centre, unit**2 * found.errors
        self._residuals, self._df = found.residuals, np.full(len(values), 1e6)


class Run(World):
    """Nine programs of a recorded run's kind, and what each returns on each start."""

    def __init__(self, table, rng):
        super().__init__(table, rng)
        which = rng.integers(0, len(self.means), PROGRAMS)
        self.true = self.means[which] + self.errors[which] * rng.standard_normal(PROGRAMS)
        self.size = self.noise[which]
        self.between = float(np.var(self.means) + np.mean(self.errors**2))
        ease = rng.normal(0, self.starts, STARTS)
        noise = rng.choice(self.pool, (PROGRAMS, STARTS)) * self.size[:, None]
        self.grid = self.true[:, None] + ease[None] + noise
        self.unit = float(np.std(self.means) + np.median(self.noise)) + 1e-12

    def regret(self, program):
        return float(max(self.true) - self.true[int(program)]) / self.unit


class Search:
    """Episodes played in one run so far."""

    def __init__(self, run, trained, fresh, fit=Returns):
        self.run, self.trained, self.fresh, self.fit = run, trained, fresh, fit
        self.known, self.block = {}, -(-fresh // 4)

    @property
    def episodes(self):
        return sum(map(len, self.known.values()))

    def write(self, round_):
        new = [str(n) for n in range(3 * round_, 3 * round_ + 3)]
        for name in new:
            self.known[name] = {}
            self.play([(name, start) for start in range(self.trained)])
        return new

    def play(self, pairs):
        for name, start in pairs:
            self.known[name][start] = float(self.run.grid[int(name), start])

    def lacking(self, names, starts):
        fresh = range(self.trained, self.trained + starts)
        block = [s for s in fresh if any(s not in self.known[name] for name in names)][: self.block]
        return [(name, s) for name in names for s in block if s not in self.known[name]]

    def has_validated(self, name):
        return len(self.known[name]) > self.trained

    def best(self, fit=None):
        model = (fit or self.fit)(self.known)
        return max(self.known, key=lambda name: model.of(name).mean)

    def compare(self, new, room, starts, least):
        """The leader and the rival whose play most raises the expected return, until nothing is worth it."""
        model, best, taken = self.fit(self.known), self.best(), 0
        untried = [name for name in new if not self.has_validated(name)]
        untried.sort(key=lambda name: -model.difference(name, best).gain)
        arms = {name for name in self.known if self.has_validated(name)} | set(untried[:2])
        while True:
            model, best = self.fit(self.known), self.best()
            who = [best]
            if self.has_validated(best):
                rivals = [name for name in self.known if name in arms and name != best]
                rival = max(rivals, key=lambda name: model.difference(name, best).gain, default=None)
                size = max(map(abs, self.known[best].values()))
                if rival is None or model.difference(rival, best).gain <= least * size:
                    return
                who.append(rival)
            pairs = self.lacking(who, starts)
            if not pairs or (taken + len(pairs) > room and self.has_validated(best)):
                return
            taken += len(pairs)
            self.play(pairs)


def by_model(run, trained, fresh, rest, *, fit=Returns, end=LEAST):
    search = Search(run, trained, fresh, fit)
    for round_ in range(3):
        search.compare(search.write(round_), 2 * fresh, fresh, LEAST)
    search.compare(list(search.known), rest, 100, end)
    return search


class Champion(Search):
    """The race before the model, in which paired differences decided."""

    champion = ""

    def beyond(self, name, other, errors):
        difference = self.differences(name, other)
        if len(difference) < 2:
            return 0
        mean, error = difference.mean(), difference.std(ddof=1) / len(difference) ** 0.5
        return int(np.sign(mean)) if abs(mean) > errors * error else 0

    def differences(self, name, other):
        mine, theirs = self.known[name], self.known[other]
        return np.array([mine[start] - theirs[start] for start in mine if start in theirs])

    def lead(self, name, other):
        return self.beyond(name, other, 2.0) or self.differences(name, other).mean()

    def front(self, names):
        if self.champion in names:
            ahead = [
                name for name in names if name != self.champion and self.beyond(name, self.champion, 1.0) > 0
            ]
            return max(
                ahead, key=lambda name: self.differences(name, self.champion).mean(), default=self.champion
            )
        first = names[0]
        for name in names[1:]:
            first = name if self.lead(name, first) > 0 else first
        return first

    def is_open(self, name, front):
        difference = self.differences(name, front)
        if not difference.any() or self.beyond(name, front, 2.0):
            return False
        error = difference.std(ddof=1) / len(difference) ** 0.5
        return abs(difference.mean()) + 2 * error > 0.005 * max(map(abs, self.known[front].values()))

    def race(self, new, room, starts, *, first):
        from functools import cmp_to_key

        order = cmp_to_key(lambda name, other: -1 if self.lead(name, other) > 0 else 1)
        new = [
            n
            for n in new
            if n != self.champion and (not self.champion or self.beyond(n, self.champion, 2.0) >= 0)
        ]
        arms = [*filter(None, [self.champion]), *sorted(new, key=order)[: 2 + (not self.champion)]]
        if len(arms) < 2 and not first:
            return
        alive, taken = arms, 0
        while True:
            front = self.front(alive)
            alive = [name for name in alive if name == front or self.beyond(name, front, 2.0) >= 0]
            pairs = self.lacking(alive, starts)
            alone = len(alive) == 1 and not (first and not self.has_validated(front))
            closed = len(alive) > 1 and not any(self.is_open(name, front) for name in alive if name != front)
            if not pairs or alone or closed or (taken + len(pairs) > room and (taken or not first)):
                break
            taken += len(pairs)
            self.play(pairs)
        self.champion = self.front(arms)


def by_champion(run, trained, fresh, rest):
    search = Champion(run, trained, fresh)
    for round_ in range(3):
        search.race(search.write(round_), 3 * fresh, fresh, first=True)
    search.race(list(search.known), rest, 60, first=False)
    return search


def main():
    rows = []
    for index, (name, table) in enumerate(tables()):
        found = defaultdict(list)
        for repeat in range(REPEATS):
            run = Run(table, np.random.default_rng((index, repeat)))
            shape = (3, 5, 8)[repeat % 3], (4, 10)[repeat % 2], (0, 40)[repeat // 6 % 2]

            def known(table, run=run):
                return Known(table, run)

            race, model = by_champion(run, *shape), by_model(run, *shape)
            longer, oracle = by_model(run, *shape, end=0.0), by_model(run, *shape, fit=known)
            found["champion"].append((run.regret(race.champion), race.episodes))
            found["model"].append((run.regret(model.best()), model.episodes))
            found["same episodes"].append((run.regret(model.best(known)), model.episodes))
            found["true variances"].append((run.regret(oracle.best()), oracle.episodes))
            found["model, no end"].append((run.regret(longer.best()), longer.episodes))
        for way, pairs in found.items():
            regret, episodes = np.mean(pairs, axis=0)
            rows.append({"run": name, "way": way, "regret": round(regret, 4), "episodes": round(episodes, 1)})
            print(rows[-1], flush=True)
    with (HERE / "regret.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
