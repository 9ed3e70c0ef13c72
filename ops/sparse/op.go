// Package sparse multiplies sparse matrices: by a vector (SpMV), by a dense matrix (SpMM)
// and by each other (SpGEMM), and converts between CSR and COO. A matrix of the host is a
// CSR; Upload and OfBuffers make a Matrix of the device, which Times multiplies by a vector and
// TimesDense by a matrix.
// ops.Handle.Run runs the other operators on buffers of the caller's. The founding notes
// name sparse products and have no listing: the rungs are ours. Package ops lists the
// operators. It must never import ops/bench.
package sparse

import "warpbook/ops/ladder"

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 spmv.cu wide.cu convert.cu spmm.cu spgemm.cu spgemm_bitmap.cu
//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 panels.cu hot.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90 -release 12.0 multicast.cu spmm_tall.cu spmm_tall_32_warps.cu

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{SpMV, SpMVWide, SpMVCOO, SpMM, SpGEMM, ToCOO, FromCOO}
}
