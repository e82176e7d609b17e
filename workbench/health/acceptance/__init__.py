"""Acceptance: checks that a node performs as its VM size promises, before the node gets work."""
