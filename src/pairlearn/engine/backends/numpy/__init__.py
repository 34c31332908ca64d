"""Points in NumPy arrays and SciPy matrices."""
