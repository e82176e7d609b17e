"""The packages of the program and the `physai` command: see the table in CONTRIBUTING.md."""
