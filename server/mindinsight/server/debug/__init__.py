"""What a debugger does with a dump: measure, watch, find the fault, compare."""
