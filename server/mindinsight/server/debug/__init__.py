"""Debugger of dumps: statistics, watchpoints, fault search, comparison."""
