"""The command line `physai`: explains the platform's stacks, and deploys them to a simulator."""
