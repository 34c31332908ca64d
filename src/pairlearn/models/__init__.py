"""The estimators, and what joins them with those of scikit-learn."""
