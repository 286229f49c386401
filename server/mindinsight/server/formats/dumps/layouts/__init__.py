"""Registry of dump layouts: each module has one subclass of ``formats.dumps.dump_layout.Layout``."""
