"""The one place that holds the version; `setup.py` reads it as text, without importing."""

__version__ = "0.1.0"
