"""What makes the GPUs of a node usable: operators, drivers, their configuration, and who may ask for a GPU."""
