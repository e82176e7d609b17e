"""Effects of a change on every stack it affects: the base is simulated, the head previewed against it, in
one comment.
"""
