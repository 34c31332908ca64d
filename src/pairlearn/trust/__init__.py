"""What may be believed: theory, metrics, certificates, classes, wrong answers."""
