"""The service's configuration: its sections, its pools, and what loading it finds."""
