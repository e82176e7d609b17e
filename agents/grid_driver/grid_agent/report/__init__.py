"""What nvidia-smi says of GPUs, read in one place: for this agent, and for the acceptance of nodes."""
