"""A region's worker: runs probes, keeps them on disk, pushes them to the centre."""
