"""An example of an extension of MindInsight."""
