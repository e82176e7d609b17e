"""OSMO workflows: reading their files, and running them on a simulated stack."""
