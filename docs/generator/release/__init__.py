"""Rehearsal of a release: `make release` builds all of its files locally, and publishes nothing."""
