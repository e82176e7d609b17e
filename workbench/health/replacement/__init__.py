"""Replacement or restart of a GPU node in steps, ordered so that no work is killed and no unproven node returns to
work.
"""
