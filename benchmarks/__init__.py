"""Benchmarks: each prints a table and writes it to benchmarks/results."""
