// Package puzzles is a course of small CUDA kernels that a reader writes in notebook 14.
//
// A Puzzle has a task, hints, a launch, inputs and a reference. A Course checks answers
// on the emulator: out of bounds, races in shared and global memory, elements that were
// never written, wrong results, and more accesses than the puzzle allows. A Verdict is
// the result with a drawing of the accesses by thread and a score beside that of the
// committed solution. Cells call it; it imports no operator, bench and display.
package puzzles

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 solutions.cu wrong.cu triton.cu
