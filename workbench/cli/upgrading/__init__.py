"""Upgrade of a team's project on this machine: programs of other versions, the project's files, the previews."""
