"""Formats of graphs: GraphProto messages, dumped ``.pb`` and IR files, call stacks, data pipelines."""
