"""Tables that are dask arrays: checked, selected and mapped without being read."""
