"""What a question is worth: ours, random pairs, other tools that ask, and labels."""
