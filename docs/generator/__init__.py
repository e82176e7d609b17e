"""Generates the reference pages and drawings in `docs` from the code.

`python -m docs.generator` writes all of them. A test compares each file with what would be generated.
"""
