"""The likelihood of answers that share points."""
