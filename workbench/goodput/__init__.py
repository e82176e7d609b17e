"""Goodput: the share of a pool's GPU time that becomes useful work, what costs the rest, and what a change of a setting
is worth.
"""
