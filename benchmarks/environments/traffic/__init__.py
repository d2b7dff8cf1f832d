"""Traffic of the Intelligent Driver Model: a ring road, and a ramp onto a main road."""

from benchmarks.environments.traffic.merge import TrafficMergeEnv
from benchmarks.environments.traffic.ring import TrafficRingEnv

__all__ = ["TrafficMergeEnv", "TrafficRingEnv"]
