"""Acceptance: checks that a node does what its size promises, before it gets work."""
