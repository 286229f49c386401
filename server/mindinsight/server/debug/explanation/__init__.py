"""Explanation of a first fault: which value an operator was given, and why its result is not finite."""

from mindinsight.server.debug.explanation.fault_explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
