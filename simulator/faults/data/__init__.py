"""YAML data about faults."""
