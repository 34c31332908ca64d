"""How accurate, how fast and how well calibrated `PairClassifier` is, on ten tables."""
