"""Requests to servers that may be slow, endless, busy, or not what they should be.

Every client of the program sends its requests through this package: whatever the server sends, an answer is limited in
time and size, and a missing or unusable answer becomes one sentence (`NoAnswer`).
"""
