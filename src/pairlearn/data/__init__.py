"""What a user gives: points, pairs, answers and their graph, folds."""
