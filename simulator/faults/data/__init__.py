"""Data of the package, as YAML."""
