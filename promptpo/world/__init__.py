"""World models: how an environment moves, written as a program, held against recorded steps, and planned in."""
