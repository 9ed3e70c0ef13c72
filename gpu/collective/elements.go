package collective

import (
	"fmt"

	"warpbook/gpu"
)

// number are the Go types of elements.
type number interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// hostOf is host memory for elements of a type.
func hostOf(t gpu.Type, n int) any {
	switch t {
	case gpu.Int8:
		return make([]int8, n)
	case gpu.Uint8:
		return make([]uint8, n)
	case gpu.Int16:
		return make([]int16, n)
	case gpu.Uint16, gpu.Float16, gpu.BFloat16:
		return make([]uint16, n)
	case gpu.Int32:
		return make([]int32, n)
	case gpu.Uint32:
		return make([]uint32, n)
	case gpu.Int64:
		return make([]int64, n)
	case gpu.Uint64:
		return make([]uint64, n)
	case gpu.Float32:
		return make([]float32, n)
	case gpu.Float64:
		return make([]float64, n)
	}
	panic(fmt.Sprintf("collective: a buffer of %v", t))
}

// reduced combines slices of one type element by element, in their order.
func reduced(op Op, inputs []any) any {
	switch inputs[0].(type) {
	case []int8:
		return combined[int8](op, inputs)
	case []uint8:
		return combined[uint8](op, inputs)
	case []int16:
		return combined[int16](op, inputs)
	case []uint16:
		return combined[uint16](op, inputs)
	case []int32:
		return combined[int32](op, inputs)
	case []uint32:
		return combined[uint32](op, inputs)
	case []int64:
		return combined[int64](op, inputs)
	case []uint64:
		return combined[uint64](op, inputs)
	case []float32:
		return combined[float32](op, inputs)
	}
	return combined[float64](op, inputs)
}

// combined is reduced of one type; it reuses the first slice.
func combined[T number](op Op, inputs []any) any {
	all := inputs[0].([]T)
	for _, input := range inputs[1:] {
		for i, v := range input.([]T) {
			switch op {
			case Sum:
				all[i] += v
			case Max:
				all[i] = max(all[i], v)
			case Min:
				all[i] = min(all[i], v)
			}
		}
	}
	return all
}

// cut is a part of a slice of elements.
func cut(elements any, from, n int) any {
	switch x := elements.(type) {
	case []int8:
		return x[from : from+n]
	case []uint8:
		return x[from : from+n]
	case []int16:
		return x[from : from+n]
	case []uint16:
		return x[from : from+n]
	case []int32:
		return x[from : from+n]
	case []uint32:
		return x[from : from+n]
	case []int64:
		return x[from : from+n]
	case []uint64:
		return x[from : from+n]
	case []float32:
		return x[from : from+n]
	}
	return elements.([]float64)[from : from+n]
}
