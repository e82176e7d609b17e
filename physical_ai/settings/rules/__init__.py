"""Rules that look at more than one setting, or at the catalogue. Pure: settings in, findings out."""
