"""NVSentinel, which watches GPUs and takes failed nodes out of service."""
