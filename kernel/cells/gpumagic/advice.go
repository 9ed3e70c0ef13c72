package gpumagic

import "warpbook/gpu/compile"

// HostCode returns the Go for the first piece of CUDA host code in a line.
func HostCode(line string) string { return compile.InGo(line) }

// MovedTo is the folder of the packages that the values of Moved name.
const MovedTo = "warpbook/ops/"

// Moved maps names of package ops that moved to another package to the new names.
var Moved = map[string]string{
	"ops.GemmOptions": "gemm.Options", "ops.GemmShape": "gemm.Shape", "ops.GemmWith": "gemm.With", "ops.GemmTensor": "gemm.Tensor",
	"ops.GemmSweep": "gemm.Sweep", "ops.GemmNote": "gemm.Note",
	"Handle.Gemm": "gemm.Multiply(h, ...)", "Handle.GemmBatched": "gemm.MultiplyBatch(h, ...)", "Handle.GemmPointers": "gemm.MultiplyPointers(h, ...)",
	"Handle.GemmBiasReLU": "gemm.MultiplyBiasReLU(h, ...)", "Handle.Reduce": "reduce.Sum(h, ...)",
	"ops.EntryHash": "ladder.EntryHash", "ops.MachineCode": "ladder.MachineCode", "ops.MachineEntry": "ladder.MachineEntry", "ops.MachineRow": "ladder.MachineRow",
	"ops.ParseMeasured": "bench.ParseMeasured",
}
