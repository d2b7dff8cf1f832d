# Style: methods found by a name that begins with written text; setattr with written names.
class Policy:
    def __init__(self):
        self.mode = "approach"
        for i in range(3):
            setattr(self, f"gain_{i}", 0.1 * i)
        setattr(self, "bias", 0.5)
        if not hasattr(self, "memory"):
            self.memory = []

    def mode_approach(self, obs):
        self.mode = "hold"
        return 0

    def mode_hold(self, obs):
        self.mode = "approach"
        return 2

    def act(self, obs):
        handler = getattr(self, f"mode_{self.mode}")
        total = sum(getattr(self, "gain_" + str(i)) for i in range(3)) + getattr(self, "bias", 0.0)
        self.memory.append(total)
        return handler(obs) if total > 0 else 1
