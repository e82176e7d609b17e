"""Models of all settings. The models are strict and immutable."""
