//go:build !cells

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "cells: built without the cell engine, build it with: go build -tags=cells ./kernel/cells")
	os.Exit(1)
}
