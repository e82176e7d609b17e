"""What the program and the `physai` command stand on: see the table of packages in CONTRIBUTING.md."""
