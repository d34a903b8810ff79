"""Motion on disk: one parquet format, what writes it, what reads it, and what is brought in from elsewhere (extra: data)."""
