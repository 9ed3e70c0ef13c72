//go:build !cells

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "cells: built without the cell engine, build it with: go run ./kernel/edited/go build ./kernel/cells")
	os.Exit(1)
}
