# Tries to: draw entropy from the order of a set of texts.
# Must be stopped by: zygote: the hashes of texts are the same in every process.


class Policy:
    def act(self, obs):
        return "abc".index(next(iter({"a", "b", "c"})))
