"""The server around the game: web, service and store."""
