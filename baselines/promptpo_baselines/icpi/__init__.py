"""ICPI: policy iteration carried out by a language model in its prompt, without gradients or code.

At each step the model predicts, by examples from the agent's own memory, whether an action would end the
episode, its reward, the next observation and what the agent would do then. These answers make one imagined
rollout per action; the action with the best imagined return is executed. After E. Brooks,
L. Walls, R. L. Lewis, S. Singh, "Large Language Models Can Implement Policy Iteration", 2023
(arXiv:2210.03821). Importing this package registers its six domains with Gymnasium.
"""

from promptpo_baselines.icpi.domains import register

register()
