"""Effects of a change on every stack that it affects, in one comment: the base is deployed to a simulator, and the head
is previewed against it.
"""
