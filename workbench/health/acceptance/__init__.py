"""Acceptance: whether a node does what its size promises, before it gets work."""
