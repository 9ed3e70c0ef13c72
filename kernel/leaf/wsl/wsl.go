// Package wsl is all that programs have on Windows: a line that names WSL2. A command whose
// code needs another system has it in files with the constraint !windows, and a main of one
// call in windows.go. It imports nothing of ours.
package wsl

import (
	"fmt"
	"os"
)

// Refuse prints the line for a command and ends the process.
func Refuse(command string) {
	fmt.Fprintln(os.Stderr, command+": warpbook does not run on Windows itself: install WSL2 (wsl --install), and run this command in its Linux")
	os.Exit(1)
}
