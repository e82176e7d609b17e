"""The workflow file: rendered, read, and checked as the service checks a submission."""
