"""What world models are worth: steps that they save, how well they predict and are planned in, and what they cost."""
