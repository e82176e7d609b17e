"""Facts that follow from the settings, as pure functions. All code that has to agree on a fact reads it here."""
