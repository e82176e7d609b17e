"""Readers of the output of acceptance's tools. Pure: text in, facts out; they refuse output that they do not
recognise.
"""
