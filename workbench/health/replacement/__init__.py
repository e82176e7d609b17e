"""Replacement or restart of a GPU node in steps. Their order ensures that no work is killed, and that a node returns to
work only after it has passed acceptance.
"""
