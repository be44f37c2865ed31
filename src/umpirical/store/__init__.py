"""Stores domain records on disk and reads them back. The only place that knows file formats."""
