"""The service's configuration: its sections, its pools, and the problems that loading it finds."""
