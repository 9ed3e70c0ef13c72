// Package compare tells whether the times of two sets of runs differ: per row
// FASTER, SLOWER, SAME or AMBIGUOUS, with the ratio of the medians and an interval
// that holds it with at least 95 % confidence. The rules are those of package verdict. A row
// whose one side is the time of a GPU and the other of an emulation has no verdict.
//
// A set is one or more files that warpbook run has written. Rows are matched by
// notebook, cell, title and name. Their samples are compared by the Mann-Whitney U
// test (golang.org/x/perf/benchmath), and its p-values are corrected for the number
// of rows by Holm's method. Load reads sets, Compare compares two of them, and a
// Comparison writes itself as text, Markdown, JSON or one HTML file.
//
// The command calls it. It starts no program and knows no device.
package compare
