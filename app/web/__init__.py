"""HTTP and WebSocket in and out: no rule and no SQL here."""
