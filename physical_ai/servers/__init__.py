"""Requests to servers that may be slow, endless, busy, or something else than they should be.

Every client of the program asks through this package: an answer has a bound in time and in size, whatever the server
sends, and what is no answer becomes one sentence (`NoAnswer`).
"""
