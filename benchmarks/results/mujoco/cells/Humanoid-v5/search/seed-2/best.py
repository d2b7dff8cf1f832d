"""Policy for Humanoid-v5, written by program search (no language model).

Held-out mean return 263.762 (95 % interval 260.168 to 267.548; 20 episodes, seeds 20000000 to 20000019).
Candidate r4c2 of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

Far from the goal the policy pushes with full strength in the direction of a weighted sum, as one
pumps a swing with its velocity; near it, it holds with a weighted sum.

Written by program search, without a language model.
Structure: pump with sums
"""
import math

import numpy as np

PARAMS = {
    "gate": (0.0, -0.5, 0.5),
    "gate_x88": (0.0, -0.5, 0.5),
    "gate_x90": (0.0, -0.5, 0.5),
    "gate_x170": (0.0, -0.5, 0.5),
    "gate_x171": (0.0, -0.5, 0.5),
    "gate_slow_x88": (0.0, -1.0, 1.0),
    "gate_slow_x90": (0.0, -1.0, 1.0),
    "gate_slow_x170": (0.0, -1.0, 1.0),
    "gate_slow_x171": (0.0, -1.0, 1.0),
    "hold0": (0.0, -10.0, 10.0),
    "hold0_x88": (0.0, -10.0, 10.0),
    "hold0_x90": (0.0, -10.0, 10.0),
    "hold0_x170": (0.0, -10.0, 10.0),
    "hold0_x171": (0.0, -10.0, 10.0),
    "hold0_slow_x88": (0.0, -20.0, 20.0),
    "hold0_slow_x90": (0.0, -20.0, 20.0),
    "hold0_slow_x170": (0.0, -20.0, 20.0),
    "hold0_slow_x171": (0.0, -20.0, 20.0),
    "swing0": (0.0, -0.5, 0.5),
    "swing0_x88": (0.0, -0.5, 0.5),
    "swing0_x90": (0.0, -0.5, 0.5),
    "swing0_x170": (0.0, -0.5, 0.5),
    "swing0_x171": (0.0, -0.5, 0.5),
    "swing0_slow_x88": (0.0, -1.0, 1.0),
    "swing0_slow_x90": (0.0, -1.0, 1.0),
    "swing0_slow_x170": (0.0, -1.0, 1.0),
    "swing0_slow_x171": (0.0, -1.0, 1.0),
    "push0": (0.7, 0.45, 0.95),
    "hold1": (0.0, -10.0, 10.0),
    "hold1_x88": (0.0, -10.0, 10.0),
    "hold1_x90": (0.0, -10.0, 10.0),
    "hold1_x170": (0.0, -10.0, 10.0),
    "hold1_x171": (0.0, -10.0, 10.0),
    "hold1_slow_x88": (0.0, -20.0, 20.0),
    "hold1_slow_x90": (0.0, -20.0, 20.0),
    "hold1_slow_x170": (0.0, -20.0, 20.0),
    "hold1_slow_x171": (0.0, -20.0, 20.0),
    "swing1": (0.0, -0.5, 0.5),
    "swing1_x88": (0.0, -0.5, 0.5),
    "swing1_x90": (0.0, -0.5, 0.5),
    "swing1_x170": (0.0, -0.5, 0.5),
    "swing1_x171": (0.0, -0.5, 0.5),
    "swing1_slow_x88": (0.0, -1.0, 1.0),
    "swing1_slow_x90": (0.0, -1.0, 1.0),
    "swing1_slow_x170": (0.0, -1.0, 1.0),
    "swing1_slow_x171": (0.0, -1.0, 1.0),
    "push1": (0.7, 0.45, 0.95),
    "hold2": (0.0, -10.0, 10.0),
    "hold2_x88": (0.0, -10.0, 10.0),
    "hold2_x90": (0.0, -10.0, 10.0),
    "hold2_x170": (0.0, -10.0, 10.0),
    "hold2_x171": (0.0, -10.0, 10.0),
    "hold2_slow_x88": (0.0, -20.0, 20.0),
    "hold2_slow_x90": (0.0, -20.0, 20.0),
    "hold2_slow_x170": (0.0, -20.0, 20.0),
    "hold2_slow_x171": (0.0, -20.0, 20.0),
    "swing2": (0.0, -0.5, 0.5),
    "swing2_x88": (0.0, -0.5, 0.5),
    "swing2_x90": (0.0, -0.5, 0.5),
    "swing2_x170": (0.0, -0.5, 0.5),
    "swing2_x171": (0.0, -0.5, 0.5),
    "swing2_slow_x88": (0.0, -1.0, 1.0),
    "swing2_slow_x90": (0.0, -1.0, 1.0),
    "swing2_slow_x170": (0.0, -1.0, 1.0),
    "swing2_slow_x171": (0.0, -1.0, 1.0),
    "push2": (0.7, 0.45, 0.95),
    "hold3": (0.0, -10.0, 10.0),
    "hold3_x88": (0.0, -10.0, 10.0),
    "hold3_x90": (0.0, -10.0, 10.0),
    "hold3_x170": (0.0, -10.0, 10.0),
    "hold3_x171": (0.0, -10.0, 10.0),
    "hold3_slow_x88": (0.0, -20.0, 20.0),
    "hold3_slow_x90": (0.0, -20.0, 20.0),
    "hold3_slow_x170": (0.0, -20.0, 20.0),
    "hold3_slow_x171": (0.0, -20.0, 20.0),
    "swing3": (0.0, -0.5, 0.5),
    "swing3_x88": (0.0, -0.5, 0.5),
    "swing3_x90": (0.0, -0.5, 0.5),
    "swing3_x170": (0.0, -0.5, 0.5),
    "swing3_x171": (0.0, -0.5, 0.5),
    "swing3_slow_x88": (0.0, -1.0, 1.0),
    "swing3_slow_x90": (0.0, -1.0, 1.0),
    "swing3_slow_x170": (0.0, -1.0, 1.0),
    "swing3_slow_x171": (0.0, -1.0, 1.0),
    "push3": (0.7, 0.45, 0.95),
    "hold4": (0.0, -10.0, 10.0),
    "hold4_x88": (0.0, -10.0, 10.0),
    "hold4_x90": (0.0, -10.0, 10.0),
    "hold4_x170": (0.0, -10.0, 10.0),
    "hold4_x171": (0.0, -10.0, 10.0),
    "hold4_slow_x88": (0.0, -20.0, 20.0),
    "hold4_slow_x90": (0.0, -20.0, 20.0),
    "hold4_slow_x170": (0.0, -20.0, 20.0),
    "hold4_slow_x171": (0.0, -20.0, 20.0),
    "swing4": (0.0, -0.5, 0.5),
    "swing4_x88": (0.0, -0.5, 0.5),
    "swing4_x90": (0.0, -0.5, 0.5),
    "swing4_x170": (0.0, -0.5, 0.5),
    "swing4_x171": (0.0, -0.5, 0.5),
    "swing4_slow_x88": (0.0, -1.0, 1.0),
    "swing4_slow_x90": (0.0, -1.0, 1.0),
    "swing4_slow_x170": (0.0, -1.0, 1.0),
    "swing4_slow_x171": (0.0, -1.0, 1.0),
    "push4": (0.7, 0.45, 0.95),
    "hold5": (0.0, -10.0, 10.0),
    "hold5_x88": (0.0, -10.0, 10.0),
    "hold5_x90": (0.0, -10.0, 10.0),
    "hold5_x170": (0.0, -10.0, 10.0),
    "hold5_x171": (0.0, -10.0, 10.0),
    "hold5_slow_x88": (0.0, -20.0, 20.0),
    "hold5_slow_x90": (0.0, -20.0, 20.0),
    "hold5_slow_x170": (0.0, -20.0, 20.0),
    "hold5_slow_x171": (0.0, -20.0, 20.0),
    "swing5": (0.0, -0.5, 0.5),
    "swing5_x88": (0.0, -0.5, 0.5),
    "swing5_x90": (0.0, -0.5, 0.5),
    "swing5_x170": (0.0, -0.5, 0.5),
    "swing5_x171": (0.0, -0.5, 0.5),
    "swing5_slow_x88": (0.0, -1.0, 1.0),
    "swing5_slow_x90": (0.0, -1.0, 1.0),
    "swing5_slow_x170": (0.0, -1.0, 1.0),
    "swing5_slow_x171": (0.0, -1.0, 1.0),
    "push5": (0.7, 0.45, 0.95),
    "hold6": (0.0, -10.0, 10.0),
    "hold6_x88": (0.0, -10.0, 10.0),
    "hold6_x90": (0.0, -10.0, 10.0),
    "hold6_x170": (0.0, -10.0, 10.0),
    "hold6_x171": (0.0, -10.0, 10.0),
    "hold6_slow_x88": (0.0, -20.0, 20.0),
    "hold6_slow_x90": (0.0, -20.0, 20.0),
    "hold6_slow_x170": (0.0, -20.0, 20.0),
    "hold6_slow_x171": (0.0, -20.0, 20.0),
    "swing6": (0.0, -0.5, 0.5),
    "swing6_x88": (0.0, -0.5, 0.5),
    "swing6_x90": (0.0, -0.5, 0.5),
    "swing6_x170": (0.0, -0.5, 0.5),
    "swing6_x171": (0.0, -0.5, 0.5),
    "swing6_slow_x88": (0.0, -1.0, 1.0),
    "swing6_slow_x90": (0.0, -1.0, 1.0),
    "swing6_slow_x170": (0.0, -1.0, 1.0),
    "swing6_slow_x171": (0.0, -1.0, 1.0),
    "push6": (0.7, 0.45, 0.95),
    "hold7": (0.0, -10.0, 10.0),
    "hold7_x88": (0.0, -10.0, 10.0),
    "hold7_x90": (0.0, -10.0, 10.0),
    "hold7_x170": (0.0, -10.0, 10.0),
    "hold7_x171": (0.0, -10.0, 10.0),
    "hold7_slow_x88": (0.0, -20.0, 20.0),
    "hold7_slow_x90": (0.0, -20.0, 20.0),
    "hold7_slow_x170": (0.0, -20.0, 20.0),
    "hold7_slow_x171": (0.0, -20.0, 20.0),
    "swing7": (0.0, -0.5, 0.5),
    "swing7_x88": (0.0, -0.5, 0.5),
    "swing7_x90": (0.0, -0.5, 0.5),
    "swing7_x170": (0.0, -0.5, 0.5),
    "swing7_x171": (0.0, -0.5, 0.5),
    "swing7_slow_x88": (0.0, -1.0, 1.0),
    "swing7_slow_x90": (0.0, -1.0, 1.0),
    "swing7_slow_x170": (0.0, -1.0, 1.0),
    "swing7_slow_x171": (0.0, -1.0, 1.0),
    "push7": (0.7, 0.45, 0.95),
    "hold8": (0.0, -10.0, 10.0),
    "hold8_x88": (0.0, -10.0, 10.0),
    "hold8_x90": (0.0, -10.0, 10.0),
    "hold8_x170": (0.0, -10.0, 10.0),
    "hold8_x171": (0.0, -10.0, 10.0),
    "hold8_slow_x88": (0.0, -20.0, 20.0),
    "hold8_slow_x90": (0.0, -20.0, 20.0),
    "hold8_slow_x170": (0.0, -20.0, 20.0),
    "hold8_slow_x171": (0.0, -20.0, 20.0),
    "swing8": (0.0, -0.5, 0.5),
    "swing8_x88": (0.0, -0.5, 0.5),
    "swing8_x90": (0.0, -0.5, 0.5),
    "swing8_x170": (0.0, -0.5, 0.5),
    "swing8_x171": (0.0, -0.5, 0.5),
    "swing8_slow_x88": (0.0, -1.0, 1.0),
    "swing8_slow_x90": (0.0, -1.0, 1.0),
    "swing8_slow_x170": (0.0, -1.0, 1.0),
    "swing8_slow_x171": (0.0, -1.0, 1.0),
    "push8": (0.7, 0.45, 0.95),
    "hold9": (0.0, -10.0, 10.0),
    "hold9_x88": (0.0, -10.0, 10.0),
    "hold9_x90": (0.0, -10.0, 10.0),
    "hold9_x170": (0.0, -10.0, 10.0),
    "hold9_x171": (0.0, -10.0, 10.0),
    "hold9_slow_x88": (0.0, -20.0, 20.0),
    "hold9_slow_x90": (0.0, -20.0, 20.0),
    "hold9_slow_x170": (0.0, -20.0, 20.0),
    "hold9_slow_x171": (0.0, -20.0, 20.0),
    "swing9": (0.0, -0.5, 0.5),
    "swing9_x88": (0.0, -0.5, 0.5),
    "swing9_x90": (0.0, -0.5, 0.5),
    "swing9_x170": (0.0, -0.5, 0.5),
    "swing9_x171": (0.0, -0.5, 0.5),
    "swing9_slow_x88": (0.0, -1.0, 1.0),
    "swing9_slow_x90": (0.0, -1.0, 1.0),
    "swing9_slow_x170": (0.0, -1.0, 1.0),
    "swing9_slow_x171": (0.0, -1.0, 1.0),
    "push9": (0.7, 0.45, 0.95),
    "hold10": (0.0, -10.0, 10.0),
    "hold10_x88": (0.0, -10.0, 10.0),
    "hold10_x90": (0.0, -10.0, 10.0),
    "hold10_x170": (0.0, -10.0, 10.0),
    "hold10_x171": (0.0, -10.0, 10.0),
    "hold10_slow_x88": (0.0, -20.0, 20.0),
    "hold10_slow_x90": (0.0, -20.0, 20.0),
    "hold10_slow_x170": (0.0, -20.0, 20.0),
    "hold10_slow_x171": (0.0, -20.0, 20.0),
    "swing10": (0.0, -0.5, 0.5),
    "swing10_x88": (0.0, -0.5, 0.5),
    "swing10_x90": (0.0, -0.5, 0.5),
    "swing10_x170": (0.0, -0.5, 0.5),
    "swing10_x171": (0.0, -0.5, 0.5),
    "swing10_slow_x88": (0.0, -1.0, 1.0),
    "swing10_slow_x90": (0.0, -1.0, 1.0),
    "swing10_slow_x170": (0.0, -1.0, 1.0),
    "swing10_slow_x171": (0.0, -1.0, 1.0),
    "push10": (0.7, 0.45, 0.95),
    "hold11": (0.0, -10.0, 10.0),
    "hold11_x88": (0.0, -10.0, 10.0),
    "hold11_x90": (0.0, -10.0, 10.0),
    "hold11_x170": (0.0, -10.0, 10.0),
    "hold11_x171": (0.0, -10.0, 10.0),
    "hold11_slow_x88": (0.0, -20.0, 20.0),
    "hold11_slow_x90": (0.0, -20.0, 20.0),
    "hold11_slow_x170": (0.0, -20.0, 20.0),
    "hold11_slow_x171": (0.0, -20.0, 20.0),
    "swing11": (0.0, -0.5, 0.5),
    "swing11_x88": (0.0, -0.5, 0.5),
    "swing11_x90": (0.0, -0.5, 0.5),
    "swing11_x170": (0.0, -0.5, 0.5),
    "swing11_x171": (0.0, -0.5, 0.5),
    "swing11_slow_x88": (0.0, -1.0, 1.0),
    "swing11_slow_x90": (0.0, -1.0, 1.0),
    "swing11_slow_x170": (0.0, -1.0, 1.0),
    "swing11_slow_x171": (0.0, -1.0, 1.0),
    "push11": (0.7, 0.45, 0.95),
    "hold12": (0.0, -10.0, 10.0),
    "hold12_x88": (0.0, -10.0, 10.0),
    "hold12_x90": (0.0, -10.0, 10.0),
    "hold12_x170": (0.0, -10.0, 10.0),
    "hold12_x171": (0.0, -10.0, 10.0),
    "hold12_slow_x88": (0.0, -20.0, 20.0),
    "hold12_slow_x90": (0.0, -20.0, 20.0),
    "hold12_slow_x170": (0.0, -20.0, 20.0),
    "hold12_slow_x171": (0.0, -20.0, 20.0),
    "swing12": (0.0, -0.5, 0.5),
    "swing12_x88": (0.0, -0.5, 0.5),
    "swing12_x90": (0.0, -0.5, 0.5),
    "swing12_x170": (0.0, -0.5, 0.5),
    "swing12_x171": (0.0, -0.5, 0.5),
    "swing12_slow_x88": (0.0, -1.0, 1.0),
    "swing12_slow_x90": (0.0, -1.0, 1.0),
    "swing12_slow_x170": (0.0, -1.0, 1.0),
    "swing12_slow_x171": (0.0, -1.0, 1.0),
    "push12": (0.7, 0.45, 0.95),
    "hold13": (0.0, -10.0, 10.0),
    "hold13_x88": (0.0, -10.0, 10.0),
    "hold13_x90": (0.0, -10.0, 10.0),
    "hold13_x170": (0.0, -10.0, 10.0),
    "hold13_x171": (0.0, -10.0, 10.0),
    "hold13_slow_x88": (0.0, -20.0, 20.0),
    "hold13_slow_x90": (0.0, -20.0, 20.0),
    "hold13_slow_x170": (0.0, -20.0, 20.0),
    "hold13_slow_x171": (0.0, -20.0, 20.0),
    "swing13": (0.0, -0.5, 0.5),
    "swing13_x88": (0.0, -0.5, 0.5),
    "swing13_x90": (0.0, -0.5, 0.5),
    "swing13_x170": (0.0, -0.5, 0.5),
    "swing13_x171": (0.0, -0.5, 0.5),
    "swing13_slow_x88": (0.0, -1.0, 1.0),
    "swing13_slow_x90": (0.0, -1.0, 1.0),
    "swing13_slow_x170": (0.0, -1.0, 1.0),
    "swing13_slow_x171": (0.0, -1.0, 1.0),
    "push13": (0.7, 0.45, 0.95),
    "hold14": (0.0, -10.0, 10.0),
    "hold14_x88": (0.0, -10.0, 10.0),
    "hold14_x90": (0.0, -10.0, 10.0),
    "hold14_x170": (0.0, -10.0, 10.0),
    "hold14_x171": (0.0, -10.0, 10.0),
    "hold14_slow_x88": (0.0, -20.0, 20.0),
    "hold14_slow_x90": (0.0, -20.0, 20.0),
    "hold14_slow_x170": (0.0, -20.0, 20.0),
    "hold14_slow_x171": (0.0, -20.0, 20.0),
    "swing14": (0.0, -0.5, 0.5),
    "swing14_x88": (0.0, -0.5, 0.5),
    "swing14_x90": (0.0, -0.5, 0.5),
    "swing14_x170": (0.0, -0.5, 0.5),
    "swing14_x171": (0.0, -0.5, 0.5),
    "swing14_slow_x88": (0.0, -1.0, 1.0),
    "swing14_slow_x90": (0.0, -1.0, 1.0),
    "swing14_slow_x170": (0.0, -1.0, 1.0),
    "swing14_slow_x171": (0.0, -1.0, 1.0),
    "push14": (0.7, 0.45, 0.95),
    "hold15": (0.0, -10.0, 10.0),
    "hold15_x88": (0.0, -10.0, 10.0),
    "hold15_x90": (0.0, -10.0, 10.0),
    "hold15_x170": (0.0, -10.0, 10.0),
    "hold15_x171": (0.0, -10.0, 10.0),
    "hold15_slow_x88": (0.0, -20.0, 20.0),
    "hold15_slow_x90": (0.0, -20.0, 20.0),
    "hold15_slow_x170": (0.0, -20.0, 20.0),
    "hold15_slow_x171": (0.0, -20.0, 20.0),
    "swing15": (0.0, -0.5, 0.5),
    "swing15_x88": (0.0, -0.5, 0.5),
    "swing15_x90": (0.0, -0.5, 0.5),
    "swing15_x170": (0.0, -0.5, 0.5),
    "swing15_x171": (0.0, -0.5, 0.5),
    "swing15_slow_x88": (0.0, -1.0, 1.0),
    "swing15_slow_x90": (0.0, -1.0, 1.0),
    "swing15_slow_x170": (0.0, -1.0, 1.0),
    "swing15_slow_x171": (0.0, -1.0, 1.0),
    "push15": (0.7, 0.45, 0.95),
    "hold16": (0.0, -10.0, 10.0),
    "hold16_x88": (0.0, -10.0, 10.0),
    "hold16_x90": (0.0, -10.0, 10.0),
    "hold16_x170": (0.0, -10.0, 10.0),
    "hold16_x171": (0.0, -10.0, 10.0),
    "hold16_slow_x88": (0.0, -20.0, 20.0),
    "hold16_slow_x90": (0.0, -20.0, 20.0),
    "hold16_slow_x170": (0.0, -20.0, 20.0),
    "hold16_slow_x171": (0.0, -20.0, 20.0),
    "swing16": (0.0, -0.5, 0.5),
    "swing16_x88": (0.0, -0.5, 0.5),
    "swing16_x90": (0.0, -0.5, 0.5),
    "swing16_x170": (0.0, -0.5, 0.5),
    "swing16_x171": (0.0, -0.5, 0.5),
    "swing16_slow_x88": (0.0, -1.0, 1.0),
    "swing16_slow_x90": (0.0, -1.0, 1.0),
    "swing16_slow_x170": (0.0, -1.0, 1.0),
    "swing16_slow_x171": (0.0, -1.0, 1.0),
    "push16": (0.7, 0.45, 0.95),
}


def clip(value):
    """Limit a score to -1..1."""
    return max(-1.0, min(1.0, value))


def features(obs):
    """The observation as a list of numbers of about one."""
    return np.ravel(obs).tolist()


class Policy:
    def __init__(self, params):
        self.params = params
        self.slow = None

    def act(self, obs):
        p = self.params
        x = features(obs)
        slow = [0.95 * old + 0.05 * now for now, old in zip(x, self.slow or x)]
        self.slow = slow
        gate = p["gate"] + p["gate_x88"] * x[88] + p["gate_x90"] * x[90]
        gate += p["gate_x170"] * x[170] + p["gate_x171"] * x[171]
        gate += p["gate_slow_x88"] * slow[88] + p["gate_slow_x90"] * slow[90]
        gate += p["gate_slow_x170"] * slow[170] + p["gate_slow_x171"] * slow[171]
        if gate > 0.0:
            u0 = p["hold0"] + p["hold0_x88"] * x[88] + p["hold0_x90"] * x[90]
            u0 += p["hold0_x170"] * x[170] + p["hold0_x171"] * x[171]
            u0 += p["hold0_slow_x88"] * slow[88] + p["hold0_slow_x90"] * slow[90]
            u0 += p["hold0_slow_x170"] * slow[170] + p["hold0_slow_x171"] * slow[171]
        else:
            swing = p["swing0"] + p["swing0_x88"] * x[88] + p["swing0_x90"] * x[90]
            swing += p["swing0_x170"] * x[170] + p["swing0_x171"] * x[171]
            swing += p["swing0_slow_x88"] * slow[88] + p["swing0_slow_x90"] * slow[90]
            swing += p["swing0_slow_x170"] * slow[170] + p["swing0_slow_x171"] * slow[171]
            u0 = math.copysign(p["push0"], swing)
        if gate > 0.0:
            u1 = p["hold1"] + p["hold1_x88"] * x[88] + p["hold1_x90"] * x[90]
            u1 += p["hold1_x170"] * x[170] + p["hold1_x171"] * x[171]
            u1 += p["hold1_slow_x88"] * slow[88] + p["hold1_slow_x90"] * slow[90]
            u1 += p["hold1_slow_x170"] * slow[170] + p["hold1_slow_x171"] * slow[171]
        else:
            swing = p["swing1"] + p["swing1_x88"] * x[88] + p["swing1_x90"] * x[90]
            swing += p["swing1_x170"] * x[170] + p["swing1_x171"] * x[171]
            swing += p["swing1_slow_x88"] * slow[88] + p["swing1_slow_x90"] * slow[90]
            swing += p["swing1_slow_x170"] * slow[170] + p["swing1_slow_x171"] * slow[171]
            u1 = math.copysign(p["push1"], swing)
        if gate > 0.0:
            u2 = p["hold2"] + p["hold2_x88"] * x[88] + p["hold2_x90"] * x[90]
            u2 += p["hold2_x170"] * x[170] + p["hold2_x171"] * x[171]
            u2 += p["hold2_slow_x88"] * slow[88] + p["hold2_slow_x90"] * slow[90]
            u2 += p["hold2_slow_x170"] * slow[170] + p["hold2_slow_x171"] * slow[171]
        else:
            swing = p["swing2"] + p["swing2_x88"] * x[88] + p["swing2_x90"] * x[90]
            swing += p["swing2_x170"] * x[170] + p["swing2_x171"] * x[171]
            swing += p["swing2_slow_x88"] * slow[88] + p["swing2_slow_x90"] * slow[90]
            swing += p["swing2_slow_x170"] * slow[170] + p["swing2_slow_x171"] * slow[171]
            u2 = math.copysign(p["push2"], swing)
        if gate > 0.0:
            u3 = p["hold3"] + p["hold3_x88"] * x[88] + p["hold3_x90"] * x[90]
            u3 += p["hold3_x170"] * x[170] + p["hold3_x171"] * x[171]
            u3 += p["hold3_slow_x88"] * slow[88] + p["hold3_slow_x90"] * slow[90]
            u3 += p["hold3_slow_x170"] * slow[170] + p["hold3_slow_x171"] * slow[171]
        else:
            swing = p["swing3"] + p["swing3_x88"] * x[88] + p["swing3_x90"] * x[90]
            swing += p["swing3_x170"] * x[170] + p["swing3_x171"] * x[171]
            swing += p["swing3_slow_x88"] * slow[88] + p["swing3_slow_x90"] * slow[90]
            swing += p["swing3_slow_x170"] * slow[170] + p["swing3_slow_x171"] * slow[171]
            u3 = math.copysign(p["push3"], swing)
        if gate > 0.0:
            u4 = p["hold4"] + p["hold4_x88"] * x[88] + p["hold4_x90"] * x[90]
            u4 += p["hold4_x170"] * x[170] + p["hold4_x171"] * x[171]
            u4 += p["hold4_slow_x88"] * slow[88] + p["hold4_slow_x90"] * slow[90]
            u4 += p["hold4_slow_x170"] * slow[170] + p["hold4_slow_x171"] * slow[171]
        else:
            swing = p["swing4"] + p["swing4_x88"] * x[88] + p["swing4_x90"] * x[90]
            swing += p["swing4_x170"] * x[170] + p["swing4_x171"] * x[171]
            swing += p["swing4_slow_x88"] * slow[88] + p["swing4_slow_x90"] * slow[90]
            swing += p["swing4_slow_x170"] * slow[170] + p["swing4_slow_x171"] * slow[171]
            u4 = math.copysign(p["push4"], swing)
        if gate > 0.0:
            u5 = p["hold5"] + p["hold5_x88"] * x[88] + p["hold5_x90"] * x[90]
            u5 += p["hold5_x170"] * x[170] + p["hold5_x171"] * x[171]
            u5 += p["hold5_slow_x88"] * slow[88] + p["hold5_slow_x90"] * slow[90]
            u5 += p["hold5_slow_x170"] * slow[170] + p["hold5_slow_x171"] * slow[171]
        else:
            swing = p["swing5"] + p["swing5_x88"] * x[88] + p["swing5_x90"] * x[90]
            swing += p["swing5_x170"] * x[170] + p["swing5_x171"] * x[171]
            swing += p["swing5_slow_x88"] * slow[88] + p["swing5_slow_x90"] * slow[90]
            swing += p["swing5_slow_x170"] * slow[170] + p["swing5_slow_x171"] * slow[171]
            u5 = math.copysign(p["push5"], swing)
        if gate > 0.0:
            u6 = p["hold6"] + p["hold6_x88"] * x[88] + p["hold6_x90"] * x[90]
            u6 += p["hold6_x170"] * x[170] + p["hold6_x171"] * x[171]
            u6 += p["hold6_slow_x88"] * slow[88] + p["hold6_slow_x90"] * slow[90]
            u6 += p["hold6_slow_x170"] * slow[170] + p["hold6_slow_x171"] * slow[171]
        else:
            swing = p["swing6"] + p["swing6_x88"] * x[88] + p["swing6_x90"] * x[90]
            swing += p["swing6_x170"] * x[170] + p["swing6_x171"] * x[171]
            swing += p["swing6_slow_x88"] * slow[88] + p["swing6_slow_x90"] * slow[90]
            swing += p["swing6_slow_x170"] * slow[170] + p["swing6_slow_x171"] * slow[171]
            u6 = math.copysign(p["push6"], swing)
        if gate > 0.0:
            u7 = p["hold7"] + p["hold7_x88"] * x[88] + p["hold7_x90"] * x[90]
            u7 += p["hold7_x170"] * x[170] + p["hold7_x171"] * x[171]
            u7 += p["hold7_slow_x88"] * slow[88] + p["hold7_slow_x90"] * slow[90]
            u7 += p["hold7_slow_x170"] * slow[170] + p["hold7_slow_x171"] * slow[171]
        else:
            swing = p["swing7"] + p["swing7_x88"] * x[88] + p["swing7_x90"] * x[90]
            swing += p["swing7_x170"] * x[170] + p["swing7_x171"] * x[171]
            swing += p["swing7_slow_x88"] * slow[88] + p["swing7_slow_x90"] * slow[90]
            swing += p["swing7_slow_x170"] * slow[170] + p["swing7_slow_x171"] * slow[171]
            u7 = math.copysign(p["push7"], swing)
        if gate > 0.0:
            u8 = p["hold8"] + p["hold8_x88"] * x[88] + p["hold8_x90"] * x[90]
            u8 += p["hold8_x170"] * x[170] + p["hold8_x171"] * x[171]
            u8 += p["hold8_slow_x88"] * slow[88] + p["hold8_slow_x90"] * slow[90]
            u8 += p["hold8_slow_x170"] * slow[170] + p["hold8_slow_x171"] * slow[171]
        else:
            swing = p["swing8"] + p["swing8_x88"] * x[88] + p["swing8_x90"] * x[90]
            swing += p["swing8_x170"] * x[170] + p["swing8_x171"] * x[171]
            swing += p["swing8_slow_x88"] * slow[88] + p["swing8_slow_x90"] * slow[90]
            swing += p["swing8_slow_x170"] * slow[170] + p["swing8_slow_x171"] * slow[171]
            u8 = math.copysign(p["push8"], swing)
        if gate > 0.0:
            u9 = p["hold9"] + p["hold9_x88"] * x[88] + p["hold9_x90"] * x[90]
            u9 += p["hold9_x170"] * x[170] + p["hold9_x171"] * x[171]
            u9 += p["hold9_slow_x88"] * slow[88] + p["hold9_slow_x90"] * slow[90]
            u9 += p["hold9_slow_x170"] * slow[170] + p["hold9_slow_x171"] * slow[171]
        else:
            swing = p["swing9"] + p["swing9_x88"] * x[88] + p["swing9_x90"] * x[90]
            swing += p["swing9_x170"] * x[170] + p["swing9_x171"] * x[171]
            swing += p["swing9_slow_x88"] * slow[88] + p["swing9_slow_x90"] * slow[90]
            swing += p["swing9_slow_x170"] * slow[170] + p["swing9_slow_x171"] * slow[171]
            u9 = math.copysign(p["push9"], swing)
        if gate > 0.0:
            u10 = p["hold10"] + p["hold10_x88"] * x[88] + p["hold10_x90"] * x[90]
            u10 += p["hold10_x170"] * x[170] + p["hold10_x171"] * x[171]
            u10 += p["hold10_slow_x88"] * slow[88] + p["hold10_slow_x90"] * slow[90]
            u10 += p["hold10_slow_x170"] * slow[170] + p["hold10_slow_x171"] * slow[171]
        else:
            swing = p["swing10"] + p["swing10_x88"] * x[88] + p["swing10_x90"] * x[90]
            swing += p["swing10_x170"] * x[170] + p["swing10_x171"] * x[171]
            swing += p["swing10_slow_x88"] * slow[88] + p["swing10_slow_x90"] * slow[90]
            swing += p["swing10_slow_x170"] * slow[170] + p["swing10_slow_x171"] * slow[171]
            u10 = math.copysign(p["push10"], swing)
        if gate > 0.0:
            u11 = p["hold11"] + p["hold11_x88"] * x[88] + p["hold11_x90"] * x[90]
            u11 += p["hold11_x170"] * x[170] + p["hold11_x171"] * x[171]
            u11 += p["hold11_slow_x88"] * slow[88] + p["hold11_slow_x90"] * slow[90]
            u11 += p["hold11_slow_x170"] * slow[170] + p["hold11_slow_x171"] * slow[171]
        else:
            swing = p["swing11"] + p["swing11_x88"] * x[88] + p["swing11_x90"] * x[90]
            swing += p["swing11_x170"] * x[170] + p["swing11_x171"] * x[171]
            swing += p["swing11_slow_x88"] * slow[88] + p["swing11_slow_x90"] * slow[90]
            swing += p["swing11_slow_x170"] * slow[170] + p["swing11_slow_x171"] * slow[171]
            u11 = math.copysign(p["push11"], swing)
        if gate > 0.0:
            u12 = p["hold12"] + p["hold12_x88"] * x[88] + p["hold12_x90"] * x[90]
            u12 += p["hold12_x170"] * x[170] + p["hold12_x171"] * x[171]
            u12 += p["hold12_slow_x88"] * slow[88] + p["hold12_slow_x90"] * slow[90]
            u12 += p["hold12_slow_x170"] * slow[170] + p["hold12_slow_x171"] * slow[171]
        else:
            swing = p["swing12"] + p["swing12_x88"] * x[88] + p["swing12_x90"] * x[90]
            swing += p["swing12_x170"] * x[170] + p["swing12_x171"] * x[171]
            swing += p["swing12_slow_x88"] * slow[88] + p["swing12_slow_x90"] * slow[90]
            swing += p["swing12_slow_x170"] * slow[170] + p["swing12_slow_x171"] * slow[171]
            u12 = math.copysign(p["push12"], swing)
        if gate > 0.0:
            u13 = p["hold13"] + p["hold13_x88"] * x[88] + p["hold13_x90"] * x[90]
            u13 += p["hold13_x170"] * x[170] + p["hold13_x171"] * x[171]
            u13 += p["hold13_slow_x88"] * slow[88] + p["hold13_slow_x90"] * slow[90]
            u13 += p["hold13_slow_x170"] * slow[170] + p["hold13_slow_x171"] * slow[171]
        else:
            swing = p["swing13"] + p["swing13_x88"] * x[88] + p["swing13_x90"] * x[90]
            swing += p["swing13_x170"] * x[170] + p["swing13_x171"] * x[171]
            swing += p["swing13_slow_x88"] * slow[88] + p["swing13_slow_x90"] * slow[90]
            swing += p["swing13_slow_x170"] * slow[170] + p["swing13_slow_x171"] * slow[171]
            u13 = math.copysign(p["push13"], swing)
        if gate > 0.0:
            u14 = p["hold14"] + p["hold14_x88"] * x[88] + p["hold14_x90"] * x[90]
            u14 += p["hold14_x170"] * x[170] + p["hold14_x171"] * x[171]
            u14 += p["hold14_slow_x88"] * slow[88] + p["hold14_slow_x90"] * slow[90]
            u14 += p["hold14_slow_x170"] * slow[170] + p["hold14_slow_x171"] * slow[171]
        else:
            swing = p["swing14"] + p["swing14_x88"] * x[88] + p["swing14_x90"] * x[90]
            swing += p["swing14_x170"] * x[170] + p["swing14_x171"] * x[171]
            swing += p["swing14_slow_x88"] * slow[88] + p["swing14_slow_x90"] * slow[90]
            swing += p["swing14_slow_x170"] * slow[170] + p["swing14_slow_x171"] * slow[171]
            u14 = math.copysign(p["push14"], swing)
        if gate > 0.0:
            u15 = p["hold15"] + p["hold15_x88"] * x[88] + p["hold15_x90"] * x[90]
            u15 += p["hold15_x170"] * x[170] + p["hold15_x171"] * x[171]
            u15 += p["hold15_slow_x88"] * slow[88] + p["hold15_slow_x90"] * slow[90]
            u15 += p["hold15_slow_x170"] * slow[170] + p["hold15_slow_x171"] * slow[171]
        else:
            swing = p["swing15"] + p["swing15_x88"] * x[88] + p["swing15_x90"] * x[90]
            swing += p["swing15_x170"] * x[170] + p["swing15_x171"] * x[171]
            swing += p["swing15_slow_x88"] * slow[88] + p["swing15_slow_x90"] * slow[90]
            swing += p["swing15_slow_x170"] * slow[170] + p["swing15_slow_x171"] * slow[171]
            u15 = math.copysign(p["push15"], swing)
        if gate > 0.0:
            u16 = p["hold16"] + p["hold16_x88"] * x[88] + p["hold16_x90"] * x[90]
            u16 += p["hold16_x170"] * x[170] + p["hold16_x171"] * x[171]
            u16 += p["hold16_slow_x88"] * slow[88] + p["hold16_slow_x90"] * slow[90]
            u16 += p["hold16_slow_x170"] * slow[170] + p["hold16_slow_x171"] * slow[171]
        else:
            swing = p["swing16"] + p["swing16_x88"] * x[88] + p["swing16_x90"] * x[90]
            swing += p["swing16_x170"] * x[170] + p["swing16_x171"] * x[171]
            swing += p["swing16_slow_x88"] * slow[88] + p["swing16_slow_x90"] * slow[90]
            swing += p["swing16_slow_x170"] * slow[170] + p["swing16_slow_x171"] * slow[171]
            u16 = math.copysign(p["push16"], swing)
        u = [u0, u1, u2, u3, u4, u5, u6, u7, u8, u9, u10, u11, u12, u13, u14, u15, u16]
        return np.array([0.4 * clip(u[0]), 0.4 * clip(u[1]), 0.4 * clip(u[2]), 0.4 * clip(u[3]), 0.4 * clip(u[4]), 0.4 * clip(u[5]), 0.4 * clip(u[6]), 0.4 * clip(u[7]), 0.4 * clip(u[8]), 0.4 * clip(u[9]), 0.4 * clip(u[10]), 0.4 * clip(u[11]), 0.4 * clip(u[12]), 0.4 * clip(u[13]), 0.4 * clip(u[14]), 0.4 * clip(u[15]), 0.4 * clip(u[16])], dtype=np.float32)


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    return Policy({name: value[0] for name, value in PARAMS.items()})


def predict(observation, state=None, episode_start=None, deterministic=True):
    """Actions for one observation, or for a batch as vectorised environments give it.

    Args:
        observation: One observation, or a batch: arrays (or a dict of arrays) with a leading axis.
        state: What the previous call returned; None at the first.
        episode_start: For a batch: a bool per environment, true where a new episode begins. None means a
            single observation, and a new episode when `state` is None.
        deterministic: Accepted for compatibility.

    Returns:
        (action, state): `state` holds one policy object per environment; pass it to the next call.
    """
    import numpy as np

    if episode_start is None:
        state = state or (new_policy(),)
        return _within_bounds(state[0].act(observation)), state
    starts = np.atleast_1d(episode_start)
    state = list(state) if state is not None else [None] * len(starts)
    actions = []
    for i, start in enumerate(starts):
        if start or state[i] is None:
            state[i] = new_policy()
        one = {key: value[i] for key, value in observation.items()} if isinstance(observation, dict) else observation[i]
        if np.ndim(one) == 0 and not isinstance(one, (str, bytes)):
            one = int(one)
        actions.append(_within_bounds(state[i].act(one)))
    return np.asarray(actions), tuple(state)


def _within_bounds(action):
    import numpy as np

    return np.clip(np.asarray(action, dtype=np.float32), np.float32(-0.4000000059604645), np.float32(0.4000000059604645))


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='Humanoid-v5', help="environment id")
    parser.add_argument("--env-kwargs", default='{}', type=json.loads, help="JSON")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first episode; the next ones follow")
    parser.add_argument("--render", action="store_true", help="show a window")
    args = parser.parse_args()
    kwargs = {**args.env_kwargs, "render_mode": "human"} if args.render else args.env_kwargs
    env = gymnasium.make(args.env, **kwargs)
    returns = []
    for episode in range(args.episodes):
        observation, _ = env.reset(seed=args.seed + episode)
        state, total, done = None, 0.0, False
        while not done:
            action, state = predict(observation, state)
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            done = terminated or truncated
        returns.append(total)
        print(f"episode {episode + 1}: return {total:.6g}", flush=True)
    if returns:
        print(f"mean return of {len(returns)} episodes: {sum(returns) / len(returns):.6g}")
    env.close()


if __name__ == "__main__":
    main()
