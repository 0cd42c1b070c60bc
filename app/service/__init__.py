"""The story of each use: lock, decide, store, apply, show."""
