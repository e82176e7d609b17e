"""Replaces or reboots a GPU node step by step, in an order in which no work is killed and nothing unproven returns."""
