"""YAML data about metrics."""
