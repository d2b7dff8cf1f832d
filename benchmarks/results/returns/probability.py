"""Is a program that the model gives 20 % the best in 20 % of runs? `python benchmarks/results/returns/probability.py`

Simulates 600 runs of two to five programs with three to six episodes each, and prints, by the probability of being the best, its
mean and the share of programs that truly were.
"""

import numpy as np

from promptpo.core.returns import Returns

ENDS = (0, 0.005, 0.05, 0.2, 0.5, 0.8, 0.95, 1.01)

rng = np.random.default_rng(1)
claims = []
for _ in range(600):
    programs, starts = rng.integers(2, 6), rng.integers(3, 7)
    true = rng.standard_t(4, programs)
    noise = np.exp(rng.normal(0, 0.5, programs)) * rng.choice([0.5, 1, 2])
    ease = rng.normal(0, 1, starts)
    table = {
        str(i): {s: true[i] + ease[s] + noise[i] * rng.normal() for s in range(starts)}
        for i in range(programs)
    }
    claims += [(p, int(name) == true.argmax()) for name, p in Returns(table).probability_best().items()]
for low, high in zip(ENDS, ENDS[1:]):
    some = [claim for claim in claims if low <= claim[0] < high]
    print(
        f"{low} to {high}: {len(some)} programs, mean {np.mean([p for p, _ in some]):.3f}, best {np.mean([b for _, b in some]):.3f}"
    )
