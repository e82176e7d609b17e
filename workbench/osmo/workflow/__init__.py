"""Workflow files: rendering, reading, and the checks that OSMO makes when a workflow is submitted."""
