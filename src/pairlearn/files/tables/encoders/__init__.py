"""Columns that are no numbers yet to numbers: vectors, images, and embeddings."""
