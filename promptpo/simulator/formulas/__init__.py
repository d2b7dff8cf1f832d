"""Learn simulators of sparse formulas, for runs without a language model."""
