"""The diagrams of the pages, drawn from data in Mermaid's notation.

A page has the mark `<!-- picture NAME: python -m docs.generator -->` where a diagram belongs, and `<!-- end -->` after
it.
"""
