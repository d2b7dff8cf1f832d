"""Numbers for programs: derivative-free tuning of the literals that a policy declares."""
