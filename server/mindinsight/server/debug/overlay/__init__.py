"""A graph coloured by a dump: which operator is which node, and what each shows."""
