"""Classifiers from the answers of people who err differently."""
