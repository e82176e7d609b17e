"""Requests to servers that may be busy, and whose answers may be slow, endless, or of an unexpected kind.

Every client of the program sends its requests through this package: whatever the server sends, an answer is limited in
time and size, and a missing or unusable answer becomes one sentence (`NoAnswer`).
"""
