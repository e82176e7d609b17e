"""Time from nothing to the first Pod with a GPU, and from a waiting Pod to one more node: steps, their order, the
longest path, and a stack's budget for it. Pure functions.
"""
