"""Data services of OSMO in the cluster itself: database, cache and storage."""
