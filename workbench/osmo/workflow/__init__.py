"""Workflow files: rendering, reading, and the checks that OSMO makes when one is submitted."""
