"""How weights are found: losses, risks, objectives and solvers."""
