"""Data of the GPU stack model: operands as of the newest release, and what each release does differently."""
