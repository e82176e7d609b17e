"""Data of the chart models: field tables, default values, templates."""
