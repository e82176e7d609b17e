"""Rules that need more than one setting, or the catalogue. They are pure functions from settings to findings."""
