"""Output of commands: documents for --json, and the same content as tables and lines for people."""
