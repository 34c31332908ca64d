"""Tables on disk, read alike from CSV, TSV, Parquet, Feather and Arrow files."""
