"""Traffic of the Intelligent Driver Model: a ring road, and a ramp onto a main road."""

from promptpo_benchmarks.environments.traffic.merge import TrafficMergeEnv
from promptpo_benchmarks.environments.traffic.ring import TrafficRingEnv

__all__ = ["TrafficMergeEnv", "TrafficRingEnv"]
