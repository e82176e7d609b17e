"""YAML data about OSMO."""
