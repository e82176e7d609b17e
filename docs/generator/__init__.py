"""Pages of `docs/reference` that are made of the code itself, so that they say what it does.

`python -m docs.generator` writes all of them; the tests compare each with what it would write.
"""
