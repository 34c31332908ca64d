"""Damaged and forged files, by the thousand: `make fuzz`."""
