package gpu

import (
	"fmt"
	"reflect"
)

// Upload allocates a buffer with the values of a slice, such as []float32. Halves, whose Go
// type is that of Uint16, take Alloc and Buffer.Upload.
func Upload(d Device, values any) (Buffer, error) {
	of := reflect.TypeOf(values)
	for t, element := range elements {
		if t == Float16 || t == BFloat16 || of == nil || of.Kind() != reflect.Slice || of.Elem() != element {
			continue
		}
		b, err := d.Alloc(t, reflect.ValueOf(values).Len())
		if err != nil {
			return nil, err
		}
		if err := b.Upload(values); err != nil {
			b.Free()
			return nil, err
		}
		return b, nil
	}
	return nil, fmt.Errorf("gpu: upload: %w: %T, expected a slice of numbers such as []float32", ErrArgument, values)
}

// MustUpload is Upload for notebooks and examples, where an error ends the cell.
func MustUpload(d Device, values any) Buffer {
	b, err := Upload(d, values)
	if err != nil {
		panic(err)
	}
	return b
}
