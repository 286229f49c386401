"""Discovery: which folders below the base directories are runs, jobs, ranks and dumps."""
