"""When is a language model enough? What the rows of the suite ``proof`` answer to the hypotheses written before it."""
