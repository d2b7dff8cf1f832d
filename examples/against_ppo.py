"""A written policy against PPO with the same environment steps, with a plot: ``python against_ppo.py``.

Needs ``pip install "promptpo[baselines]"``. Without a key, program search writes the policy.
"""

import json
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl

import promptpo

mpl.use("Agg")
import matplotlib.pyplot as plt

ENV, STEPS = "CartPole-v1", 10_000


def main() -> None:
    """Run both, print the held-out returns, and draw what each had after how many steps."""
    written = promptpo.optimize(ENV, rounds=2, max_steps=STEPS, test_episodes=20, out="written")
    words = (
        f"-m promptpo baseline ppo {ENV} --max-steps {STEPS} --eval-every 2000 --test-episodes 20 --out ppo"
    )
    subprocess.run([sys.executable, *words.split()], check=True)
    learnt = json.loads(Path("ppo/result.json").read_text())

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.step(
        written.history["steps"], written.history["mean_return"].cummax(), where="post", label="promptpo"
    )
    axes.plot([p["steps"] for p in learnt["curve"]], [p["mean_return"] for p in learnt["curve"]], label="PPO")
    axes.set(title=ENV, xlabel="environment steps", ylabel="mean return", xlim=(0, STEPS))
    axes.legend()
    figure.savefig("against_ppo.png", dpi=150)
    print(
        f"held-out return: promptpo {written.mean_return:.0f} after {written.data['searched_steps']:,} steps, "
        f"PPO {learnt['test']['mean_return']:.0f} after {learnt['steps']['train']:,}; see against_ppo.png"
    )


if __name__ == "__main__":
    main()
