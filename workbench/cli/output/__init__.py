"""Output of commands: documents for --json, and the same as tables and lines for people."""
