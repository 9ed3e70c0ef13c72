//go:build !cuda

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "worker: built without CUDA: go run ./install builds it where CUDA's headers are")
	os.Exit(1)
}
