"""The only SQL: engine values in, engine values out."""

from app.store.store import Store, open_store, schema_is_current, upgrade

__all__ = ["Store", "open_store", "schema_is_current", "upgrade"]
