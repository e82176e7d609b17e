"""What a run of the engine changes: as records, as text, as Markdown and as a picture."""
