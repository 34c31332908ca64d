"""Where points live, in NumPy, torch or dask, and what numba compiles."""
