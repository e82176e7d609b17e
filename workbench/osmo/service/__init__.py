"""OSMO's configuration: its sections and pools, and the errors that occur when OSMO loads it."""
