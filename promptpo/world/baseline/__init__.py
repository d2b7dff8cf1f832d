"""World models written without a language model: short formulas for how numbers move."""
