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
	if m.Channels > 0 && (len(m.Lower) != len(m.Shape)-2 || len(m.Upper) != len(m.Lower) || len(m.Lower) == 0 || len(m.Steps) != len(m.Shape)) {
		return &failure{code: command.CodeProtocol, text: fmt.Sprintf("tensor map %+v in im2col mode", *m)}
	}
	if int64(m.At)+mapBytes > int64(len(params)) || len(m.Shape) == 0 || m.Channels == 0 && len(m.Box) != len(m.Shape) || len(m.Strides) != len(m.Shape)-1 {
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
	kind, tensor, rank := C.CUtensorMapDataType(m.Type), unsafe.Pointer(uintptr(at)), C.cuuint32_t(len(m.Shape))
	shape, stride := (*C.cuuint64_t)(unsafe.Pointer(&m.Shape[0])), (*C.cuuint64_t)(unsafe.Pointer(&strides[0]))
	swizzle, fill := C.CUtensorMapSwizzle(m.Swizzle), C.CUtensorMapFloatOOBfill(m.Fill)
	if m.Channels > 0 {
		err = failed(C.cuTensorMapEncodeIm2col(&encoded, kind, rank, tensor, shape, stride,
			(*C.int)(unsafe.Pointer(&m.Lower[0])), (*C.int)(unsafe.Pointer(&m.Upper[0])), C.cuuint32_t(m.Channels), C.cuuint32_t(m.Pixels),
			(*C.cuuint32_t)(unsafe.Pointer(&m.Steps[0])), C.CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, C.CU_TENSOR_MAP_L2_PROMOTION_NONE, fill),
			fmt.Sprintf("tensor map of shape %v, strides %v, corners %v and %v, %d channels, %d pixels", m.Shape, m.Strides, m.Lower, m.Upper, m.Channels, m.Pixels))
	} else {
		err = failed(C.cuTensorMapEncodeTiled(&encoded, kind, rank, tensor, shape, stride,
			(*C.cuuint32_t)(unsafe.Pointer(&m.Box[0])), &steps[0], C.CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, C.CU_TENSOR_MAP_L2_PROMOTION_NONE, fill),
			fmt.Sprintf("tensor map of shape %v, strides %v, box %v", m.Shape, m.Strides, m.Box))
	}
	if err != nil {
		return err
	}
	copy(params[m.At:], unsafe.Slice((*byte)(unsafe.Pointer(&encoded)), mapBytes))
	return nil
}
