"""Effects of a change on every stack it touches: the base simulated, the head previewed against it, one comment."""
