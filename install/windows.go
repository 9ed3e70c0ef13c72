//go:build windows

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "install: warpbook does not run on Windows itself: install WSL2 (wsl --install), and run this command in its Linux")
	os.Exit(1)
}
