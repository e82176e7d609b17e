"""What `stack new` asks, and what it shows."""
