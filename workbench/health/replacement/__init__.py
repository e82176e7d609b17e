"""Replacement or restart of a GPU node, in steps. The order of the steps ensures that no work is killed, and that a
node returns to work only after it has passed acceptance.
"""
