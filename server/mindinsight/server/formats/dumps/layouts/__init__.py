"""Registry of dump layouts: each module or package has one subclass of ``formats.dumps.layout.Layout``."""
