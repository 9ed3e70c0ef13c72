// The notes do not print this header of theirs, which their listing needs nothing of.
