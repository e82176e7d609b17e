"""The shape of every setting: strict, frozen models."""
