"""The card of a finished match, to be shared: what stands on it, as SVG and as PNG."""
