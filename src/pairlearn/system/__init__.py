"""What the operating system gives: threads, forks, files that are written whole."""
