"""Handling of files and YAML that a pull request can bring: read within limits, and checked in a limited process."""
