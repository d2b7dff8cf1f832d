"""Do intervals of the model of returns hold the truth, and how good is the program that a run returns?

`python benchmarks/results/returns/study.py` simulates runs in the shape of the recorded ones in `tables.jsonl` (43 runs in which a
language model wrote the programs: which of them played which starts, how they, the starts and the noise differ) and writes
`rows.jsonl`. True means are drawn from what a run showed, starts anew, and noise from that run's own residuals.
"""

import json
from pathlib import Path

import numpy as np

from promptpo.core.returns import Returns

HERE = Path(__file__).parent
REPEATS, LEAST = 8, 0.001


def tables():
    for line in (HERE / "tables.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield (
            row["run"],
            {str(n): {int(s): v for s, v in one.items()} for n, one in enumerate(row["programs"])},
        )


def start_effects(table, model):
    """Estimate the effect of each initial state on returns: a return minus its program's mean is that effect plus noise times a known residual."""
    programs, starts = list(table), sorted({s for played in table.values() for s in played})
    pairs = [(n, s) for n in programs for s in table[n]]
    known, rest = np.zeros((len(pairs), len(starts) + len(programs))), np.zeros(len(pairs))
    for row, (n, s) in enumerate(pairs):
        known[row, starts.index(s)], known[row, len(starts) + programs.index(n)] = 1.0, model.residual(n, s)
        rest[row] = table[n][s] - model.of(n).mean
    return dict(zip(starts, np.linalg.lstsq(known, rest, rcond=None)[0][: len(starts)].tolist(), strict=True))


class World:
    """A recorded run's programs, starts and noise."""

    def __init__(self, table, rng):
        self.model, self.rng = Returns(table), rng
        names = self.model.programs
        self.means = np.array([self.model.of(name).mean for name in names])
        self.errors = np.array([self.model.of(name).standard_error for name in names])
        residuals = {n: [self.model.residual(n, s) for s in table[n]] for n in names}
        pool = np.array([one for some in residuals.values() for one in some])
        self.pool = (pool - pool.mean()) / (pool.std() or 1.0)
        effects = start_effects(table, self.model)
        self.noise = np.array([self._noise(table[name], effects) for name in names])
        self.starts = float(np.std(list(effects.values())))
        self.ease, self.luck, self.played = {}, {}, 0

    @staticmethod
    def _noise(returns, ease):
        left = [value - ease[start] for start, value in returns.items()]
        return float(np.std(left, ddof=1)) if len(left) > 1 else 0.0

    def draw(self, count):
        """True means of so many programs."""
        which = self.rng.integers(0, len(self.means), count)
        self.true = self.means[which] + self.errors[which] * self.rng.standard_normal(count)
        self.size = self.noise[which]
        return self.true

    def play(self, program, start):
        if start not in self.ease:
            self.ease[start] = self.rng.normal(0, self.starts)
        if (program, start) not in self.luck:
            self.luck[program, start] = self.rng.choice(self.pool) * self.size[program]
            self.played += 1
        return float(self.true[program] + self.ease[start] + self.luck[program, start])


def covered(table, rng):
    """Shares of intervals, of means and of differences, that hold the truth."""
    world = World(table, rng)
    world.true = world.means + world.errors * rng.standard_normal(len(world.means))
    world.size = world.noise
    model = Returns({n: {s: world.play(int(n), s) for s in table[n]} for n in table})
    means = [abs(model.of(n).mean - world.true[int(n)]) <= model.of(n).margin for n in table]
    pairs = [(a, b) for a in table for b in table if a < b]
    differences = [
        abs(model.difference(a, b).mean - world.true[int(a)] + world.true[int(b)])
        <= model.difference(a, b).margin
        for a, b in pairs
    ]
    return np.mean(means), np.mean(differences)


def returned(world, trained, fresh, left, *, model=True):
    """The program that a run of three rounds of three returns; without the model, the best mean after equal play."""
    world.draw(9)
    known = {}

    def compare(room):
        while True:
            fit = Returns(known)
            best = max(known, key=lambda n: fit.of(n).mean)
            size = max(map(abs, known[best].values()))
            rival = max((n for n in known if n != best), key=lambda n: fit.difference(n, best).gain)
            new = [s for s in range(1000, 1100) if s not in known[best] or s not in known[rival]][
                : -(-fresh // 4)
            ]
            pairs = [(n, s) for n in (best, rival) for s in new if s not in known[n]]
            if fit.difference(rival, best).gain <= LEAST * size or not pairs or len(pairs) > room:
                return best
            room -= len(pairs)
            for n, s in pairs:
                known[n][s] = world.play(int(n), s)

    for round_ in range(3):
        for n in range(3 * round_, 3 * round_ + 3):
            known[str(n)] = {s: world.play(n, s) for s in range(trained)}
        if model:
            best = compare(3 * fresh)
        else:
            top = sorted(known, key=lambda n: -np.mean(list(known[n].values())))[:2]
            for n in top:
                known[n] |= {s: world.play(int(n), s) for s in range(1000, 1000 + fresh)}
    best = compare(left) if model else max(known, key=lambda n: np.mean(list(known[n].values())))
    return (max(world.true) - world.true[int(best)]) / (np.std(world.means) + np.median(world.noise) + 1e-12)


def main():
    rows = []
    for index, (run, table) in enumerate(tables()):
        rng = np.random.default_rng(index)
        inside = np.array([covered(table, rng) for _ in range(REPEATS)])
        row = {
            "run": run,
            "programs": len(table),
            "means_covered": round(inside[:, 0].mean(), 4),
            "differences_covered": round(inside[:, 1].mean(), 4),
        }
        for name, model in (("model", True), ("means", False)):
            got, played = [], []
            for repeat in range(REPEATS // 2):
                world = World(table, np.random.default_rng((index, repeat)))
                got.append(returned(world, (3, 5)[repeat % 2], (4, 10)[repeat % 2], 40, model=model))
                played.append(world.played)
            row[name] = {
                "regret": round(float(np.mean(got)), 4),
                "episodes": round(float(np.mean(played)), 1),
            }
        rows.append(row)
    (HERE / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name in ("means_covered", "differences_covered"):
        print(f"intervals of {name}: {np.mean([row[name] for row in rows]):.3f}")
    for name in ("model", "means"):
        print(
            name,
            *(round(float(np.mean([row[name][one] for row in rows])), 4) for one in ("regret", "episodes")),
        )


if __name__ == "__main__":
    main()
