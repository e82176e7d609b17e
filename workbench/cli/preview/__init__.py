"""Changes by a run of the engine: as records, as text, as Markdown and as a picture."""
