"""The virtual network, its private endpoints and zones, and the ways into it."""
