# Style: match over classes, mappings and sequences; text with format specifications.
from dataclasses import dataclass


@dataclass
class Event:
    kind: str
    size: float = 0.0


class Policy:
    def __init__(self):
        self.log = []

    def _judge(self, event):
        match event:
            case Event(kind="big", size=size) if size > 1:
                return 2
            case Event(kind=str(), size=float(size)):
                return int(size > 0)
            case {"kind": kind, **rest}:
                return len(rest) + len(kind)
            case [first, *others]:
                return len(others)
            case None | 0:
                return 0
            case _:
                return 1

    def act(self, obs):
        width, digits = 8, 2
        text = f"{obs[0]:>{width}.{digits}f}|{len(self.log):03d}|{'x'!r}|{obs[0]=:.1f}"
        text += "%.2f %s" % (obs[1], "a") + "{:.3f} {name}".format(obs[2], name="n") + format(obs[3], "+.1e")
        self.log.append(text.strip().upper().replace("X", "y").split("|"))
        parts = ", ".join(part.lower().zfill(3) for part in self.log[-1])
        events = [Event("big", 2.0), Event("small", float(obs[0])), {"kind": "k", "a": 1}, [1, 2], None, 3.5]
        assert [self._judge(e) for e in events][0] == 2 and parts.startswith(" ") in (True, False)
        return self._judge(events[len(self.log) % 6]) % 3
