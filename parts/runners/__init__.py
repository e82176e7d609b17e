"""Self-hosted GitHub runners on a node pool of their own."""
