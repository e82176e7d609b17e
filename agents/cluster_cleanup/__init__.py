"""Removes what releases leave in a cluster: the program of a Job at the end of a stack. Standard library only."""
