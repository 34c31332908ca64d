"""What is on disk: models that run no code when they are loaded, and tables."""
