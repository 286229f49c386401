"""Report of one run as a single HTML page that needs no server: settings, curves, alerts, first faults."""

from mindinsight.server.report.report_content import Progress, ReportSource
from mindinsight.server.report.run_report import Page, make_report

__all__ = ["Page", "Progress", "ReportSource", "make_report"]
