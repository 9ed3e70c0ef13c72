//go:build cuda

package main

/*
#include <cuda.h>
*/
import "C"

import (
	"fmt"
	"unsafe"

	"warpbook/gpu/cuda/command"
)

// mapBytes is the size of a tensor map.
const mapBytes = C.sizeof_CUtensorMap

// encodeMap puts a tensor map into a launch's parameters.
func (w *worker) encodeMap(m *command.Map, params []byte) error {
	if int64(m.At)+mapBytes > int64(len(params)) || len(m.Shape) == 0 || len(m.Box) != len(m.Shape) || len(m.Strides) != len(m.Shape)-1 {
		return &failure{code: command.CodeProtocol, text: fmt.Sprintf("tensor map %+v in %d bytes of parameters", *m, len(params))}
	}
	at, err := w.part(command.Range{Buffer: m.Tensor.Buffer, Offset: m.Tensor.Offset})
	if err != nil {
		return err
	}
	var encoded C.CUtensorMap // aligned as the driver wants it
	steps := []C.cuuint32_t{1, 1, 1, 1, 1}
	strides := append([]int64(nil), m.Strides...)
	strides = append(strides, 0) // so that there is an address
	err = failed(C.cuTensorMapEncodeTiled(&encoded, C.CUtensorMapDataType(m.Type), C.cuuint32_t(len(m.Shape)),
		unsafe.Pointer(uintptr(at)), (*C.cuuint64_t)(unsafe.Pointer(&m.Shape[0])), (*C.cuuint64_t)(unsafe.Pointer(&strides[0])),
		(*C.cuuint32_t)(unsafe.Pointer(&m.Box[0])), &steps[0], C.CU_TENSOR_MAP_INTERLEAVE_NONE, C.CUtensorMapSwizzle(m.Swizzle),
		C.CU_TENSOR_MAP_L2_PROMOTION_NONE, C.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
		fmt.Sprintf("tensor map of shape %v, strides %v, box %v", m.Shape, m.Strides, m.Box))
	if err != nil {
		return err
	}
	copy(params[m.At:], unsafe.Slice((*byte)(unsafe.Pointer(&encoded)), mapBytes))
	return nil
}
