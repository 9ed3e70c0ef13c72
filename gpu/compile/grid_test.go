package compile

import (
	"context"
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/emu"
)

// TestGridSyncInPlainLaunch: the trap of grid.sync() names the field that is missing, with
// each compiler; a trap of the cell's own does not.
func TestGridSyncInPlainLaunch(t *testing.T) {
	const cell = `#include <cooperative_groups.h>
__global__ void f(float* y) {
    auto grid = cooperative_groups::this_grid();
    if (y[0] == 5) __trap();
    y[threadIdx.x] = 1;
    grid.sync();
}`
	for name, o := range map[string]Options{"nvrtc": {}, "clang": {Compiler: "clang"}} {
		t.Run(name, func(t *testing.T) {
			if name == "clang" {
				needClang(t)
			} else {
				needNVRTC(t, "")
			}
			m, err := CUDA(context.Background(), "x.cu", cell, o)
			if err != nil {
				t.Fatal(err)
			}
			dev, y := emulator(t, gpu.Float32)
			for first, says := range map[float32]string{0: "set Cooperative: true", 5: "the kernel ended itself"} {
				if err := y.Upload([]float32{0: first, 31: 0}); err != nil {
					t.Fatal(err)
				}
				if err := m.Entries[0].Launch(dev, one, warp, y); !errors.Is(err, gpu.ErrTrap) || !strings.Contains(err.Error(), says) {
					t.Errorf("y[0] is %v: %v, expected it to say %q", first, err, says)
				}
			}
		})
	}
}

// TestRegistersOfCell: ptxas tells the emulator the registers of a cell's kernel, where its
// own barrier of the grid needs all blocks at once.
func TestRegistersOfCell(t *testing.T) {
	needNVRTC(t, "")
	if compiler.FindTool("ptxas") == "" {
		t.Skip("needs ptxas: pip install nvidia-cuda-nvcc-cu12")
	}
	m, err := CUDA(context.Background(), "x.cu", `__global__ void __launch_bounds__(256) f(const float* x, float* y, unsigned* arrived) {
    float a[96], sum = 0;
    for (int k = 0; k < 96; k++) a[k] = x[threadIdx.x + k];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) {}
    }
    __syncthreads();
    for (int k = 0; k < 96; k++) sum = fmaf(sum, a[k], a[95 - k]);
    y[blockIdx.x * 256 + threadIdx.x] = sum;
}`, Options{Arch: "sm_80"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Entry("f")
	if err != nil {
		t.Fatal(err)
	}
	dev, err := emu.Open("rtx4060") // 24 SMs, each with 6 blocks by threads and 2 by registers
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for blocks, hangs := range map[int]bool{48: false, 96: true} {
		x, errX := gpu.Upload(dev, make([]float32, 512))
		arrived, errArrived := gpu.Upload(dev, []uint32{0})
		y, errY := dev.Alloc(gpu.Float32, 256*blocks)
		if err := errors.Join(errX, errArrived, errY); err != nil {
			t.Fatal(err)
		}
		err := f.Launch(dev, gpu.Dim{X: blocks}, gpu.Dim{X: 256}, x, y, arrived)
		if errors.Is(err, gpu.ErrHang) != hangs || hangs && !strings.Contains(err.Error(), "only 48 of the 96 blocks fit") || !hangs && err != nil {
			t.Errorf("%d blocks: %v, expected a hang: %v", blocks, err, hangs)
		}
	}
}
