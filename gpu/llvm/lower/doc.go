// Package lower chooses PTX instructions for the intermediate code of package ir. It infers
// the address spaces of pointers, folds constant offsets into addresses, fuses products
// with sums where the code permits it, and leaves registers and the order of blocks to
// package machine. Its only function is PTX. Unknown instructions, types and intrinsics
// are errors that name them and the line of the source.
package lower
