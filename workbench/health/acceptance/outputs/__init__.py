"""Readers of what the tools of acceptance print. Pure: text in, facts out; they refuse what they do not recognise."""
