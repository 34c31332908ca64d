"""Cells to numbers for kinds of columns that need more than a look: texts."""
