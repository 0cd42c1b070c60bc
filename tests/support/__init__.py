"""What tests stand on: databases and a browser."""
