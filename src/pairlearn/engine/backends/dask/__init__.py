"""Points in dask arrays: read block by block, by threads or by a cluster."""
