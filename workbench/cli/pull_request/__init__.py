"""What a change does to every stack it touches: the base simulated, the head previewed against it, one comment."""
