"""A goal in words: the model writes the reward, judges it, and writes policies for it.

``python goal_in_words.py`` asks the model whose key is set. Without a key this file answers for one, by rote, so that
the way can be looked at: ``--model exec:COMMAND`` takes any program that reads a prompt and prints an answer.
"""

import os
import re
import sys

import promptpo

GOAL = "keep the pole up with the cart at x = 1"

REWARD = """```python
class Reward:
    def step(self, obs, action, next_obs, env_reward, info):
        near = 1.0 - min(1.0, abs(next_obs[0] - 1.0))
        return 0.2 * env_reward + near, {"up": 0.2 * env_reward, "near": near}
```"""

POLICY = """```python
class Policy:
    def act(self, obs):
        return int(obs[2] + 0.5 * obs[3] + 0.05 * (obs[0] - 1.0) + 0.1 * obs[1] > 0)
```"""


def answer(prompt: str) -> str:
    """Answer as a model might; of two episodes, a policy's comes closer than one of random or zero actions."""
    if "Write the reward program" in prompt:
        return REWARD
    pairs = re.findall(r"PAIR (\d+): A is episode (.+), B is episode (.+)", prompt)
    if not pairs and "VERDICT:" not in prompt:
        return POLICY
    marks = ("random", "zero")
    closer = [(n, (not a.startswith(marks)) - (not b.startswith(marks))) for n, a, b in pairs]
    lines = [f"PAIR {n}: {'A' if more > 0 else 'B' if more < 0 else '='}" for n, more in closer]
    return "\n".join([*lines, "VERDICT: partly", "BECAUSE: this answer was given by rote, nobody looked."])


if __name__ == "__main__":
    if "--answer" in sys.argv:
        print(answer(sys.stdin.read()))
    else:
        key = os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("OPENAI_API_KEY")
        model = None if key else f"exec:{sys.executable} {__file__} --answer"
        plain = {"feedback_class": False, "probe": False}
        run = promptpo.optimize("CartPole-v1", goal=GOAL, model=model, rounds=1, candidates=1, test_episodes=10,
                                max_steps=20_000, recipe_options=plain, out="goal")  # fmt: skip
        print(f"{GOAL}: {run.data['goal']['asked']}, because {run.data['goal']['because']}")
        print(f"reward {run.mean_return:.0f} a held-out episode; the reward is {run.directory / 'reward.py'}")
