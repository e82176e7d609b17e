"""Runs of the program under Pulumi's mocks, in which every declared resource is recorded."""
