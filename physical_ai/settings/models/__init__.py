"""Models of all settings, which are strict and immutable."""
