"""The former name of ``export``."""

import argparse

from mindinsight.server.commands import export, parse_summary


def test_it_takes_the_options_of_export() -> None:
    parser = argparse.ArgumentParser()
    parse_summary.register(parser.add_subparsers())
    options = parser.parse_args(["parse_summary", "--summary-dir", "runs", "--output", "files"])
    assert options.run is export.export
    assert (options.summary_base_dir, str(options.output)) == (["runs"], "files")
