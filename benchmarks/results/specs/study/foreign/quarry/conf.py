from dataclasses import dataclass, field
from .parts.kinds import Rock


@dataclass
class TruckConf:
    capacity: float = 12.0   # tonnes
    speed: float = 3.0       # segments an hour
    fuel_per_segment: float = 0.4


@dataclass
class QuarryConf:
    trucks: TruckConf = field(default_factory=TruckConf)
    hours: int = 48
    price: dict = field(default_factory=lambda: {Rock.GRANITE: 9.0, Rock.LIME: 4.0, Rock.RUBBLE: -1.0})
    vein: float = 0.35  # chance that the next face is granite

    @classmethod
    def hard(cls):
        return cls(hours=24, vein=0.15)

    @property
    def steps(self):
        return self.hours * 2
