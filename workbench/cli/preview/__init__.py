"""Changes of an engine run as records, as text, as Markdown and as a picture."""
