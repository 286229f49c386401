"""Loggers with the interface of each framework: one module per framework, which imports it.

====================== ==================================================================
lightning              ``MindInsightLogger``, ``MindInsightCallback``, ``FlightRecorderCallback``
transformers           ``MindInsightCallback`` and ``FlightRecorderCallback`` for ``Trainer``
accelerate             ``MindInsightTracker``
keras                  ``MindInsightCallback``
ignite                 ``MindInsightLogger``
====================== ==================================================================

For MindSpore's ``Model`` there is ``mindinsight.writer.SummaryCollector``.
"""
