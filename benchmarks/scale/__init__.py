"""How time and memory grow: evaluations, fits, rivals, points on disk, workers."""
