//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/cuda"
	"warpbook/gpu/cuda/build"
)

// buildWorker builds the CUDA worker if CUDA's headers are installed. Without the
// worker notebooks run on the emulator, so an installation without it is complete; on a
// machine with a GPU, install names the missing parts.
func buildWorker(ctx context.Context) {
	_, err := build.Worker(ctx, os.Stdout)
	if err == nil || errors.Is(err, build.ErrMissing) && !cuda.Present() {
		return
	}
	fmt.Println("the CUDA worker was not built, notebooks run on the emulator:", err)
}

// buildCompiler builds the program that compiles %%cuda cells. An installation has it
// beside the kernel, because the cache, where it is built, may be deleted. It returns "" if
// there is none.
func buildCompiler(ctx context.Context) string {
	built, err := compiler.Build(ctx, os.Stdout)
	if err != nil {
		fmt.Printf("the nvrtc program is missing, %%%%cuda cells do not find NVRTC: %v\n", err)
	}
	return built
}
