"""What is installed: chart values and objects, from files and settings."""
