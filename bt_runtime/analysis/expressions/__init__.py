"""Static analysis of expressions: upper bounds for the values of an expression and of its names."""
