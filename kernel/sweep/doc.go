// Package sweep runs a notebook at many points of its parameters and merges their
// records into one report.
//
// Plan makes the points: every combination of the values that --set gives. A point is
// run by the per-point command, warpbook run with the point's parameters and a folder
// of its own, so that a point that has passed is not run again. Local runs the points
// that are missing on this machine, one at a time for each device; Slurm submits them
// as one array job of an existing cluster. Merge reads the records of the points that have passed.
//
// The command calls it. It executes no cell, and schedules nothing beyond its own
// machine.
package sweep
