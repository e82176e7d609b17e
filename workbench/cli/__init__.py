"""`physai`: the platform's stacks, explained and simulated from the command line."""
