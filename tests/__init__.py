"""What is proved of the game and its server."""
