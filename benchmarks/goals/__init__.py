"""Whether learners do better on a reward that a language model wrote than on the environment's own."""
