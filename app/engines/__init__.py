"""Adapters of strong engines to `engine.bot` and `engine.analysis`; numpy lives here."""
