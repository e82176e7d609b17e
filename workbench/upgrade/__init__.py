"""Upgrade of a team's project to another version of the platform: refusals, new texts of files, and the report.

All functions here are pure: they read texts and notes, and return texts and sentences.
"""
