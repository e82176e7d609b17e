"""Facts that follow from the settings: pure functions, read by everything that has to agree."""
