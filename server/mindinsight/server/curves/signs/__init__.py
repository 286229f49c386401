"""Signs of a fault in one curve that no level shows: rises at its end, or at its begin, and slower steps."""
