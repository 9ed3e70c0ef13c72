//go:build cuda

package main

/*
#include <cuda.h>
#include <string.h>

static CUresult makeArray(CUarray *array, const unsigned *size, unsigned layers, unsigned format, unsigned channels, int surface) {
	CUDA_ARRAY3D_DESCRIPTOR d;
	memset(&d, 0, sizeof d);
	d.Width = size[0];
	d.Height = size[1];
	d.Depth = layers ? layers : size[2];
	d.Format = (CUarray_format)format;
	d.NumChannels = channels;
	d.Flags = (layers ? CUDA_ARRAY3D_LAYERED : 0) | (surface ? CUDA_ARRAY3D_SURFACE_LDST : 0);
	return cuArray3DCreate(array, &d);
}

// copyArray copies rows that lie side by side in the buffer.
static CUresult copyArray(CUarray array, CUdeviceptr buffer, size_t row, size_t height, size_t depth, int read) {
	CUDA_MEMCPY3D c;
	memset(&c, 0, sizeof c);
	c.srcMemoryType = read ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE;
	c.dstMemoryType = read ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_ARRAY;
	if (read) {
		c.srcArray = array;
		c.dstDevice = buffer;
		c.dstPitch = row;
		c.dstHeight = height;
	} else {
		c.dstArray = array;
		c.srcDevice = buffer;
		c.srcPitch = row;
		c.srcHeight = height;
	}
	c.WidthInBytes = row;
	c.Height = height;
	c.Depth = depth;
	CUresult r = cuCtxSynchronize();
	if (r == CUDA_SUCCESS)
		r = cuMemcpy3D(&c);
	return r == CUDA_SUCCESS ? cuCtxSynchronize() : r;
}

static CUresult makeTexture(unsigned long long *object, CUarray array, CUdeviceptr buffer, size_t bytes, unsigned format, unsigned channels,
                            unsigned address, int linear, unsigned flags, const float *border) {
	CUDA_RESOURCE_DESC r;
	memset(&r, 0, sizeof r);
	if (array) {
		r.resType = CU_RESOURCE_TYPE_ARRAY;
		r.res.array.hArray = array;
	} else {
		r.resType = CU_RESOURCE_TYPE_LINEAR;
		r.res.linear.devPtr = buffer;
		r.res.linear.format = (CUarray_format)format;
		r.res.linear.numChannels = channels;
		r.res.linear.sizeInBytes = bytes;
	}
	CUDA_TEXTURE_DESC t;
	memset(&t, 0, sizeof t);
	for (int i = 0; i < 3; i++)
		t.addressMode[i] = (CUaddress_mode)address;
	t.filterMode = linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
	t.flags = flags;
	memcpy(t.borderColor, border, sizeof t.borderColor);
	CUtexObject made = 0;
	CUresult result = cuTexObjectCreate(&made, &r, &t, NULL);
	*object = made;
	return result;
}

static CUresult makeSurface(unsigned long long *object, CUarray array) {
	CUDA_RESOURCE_DESC r;
	memset(&r, 0, sizeof r);
	r.resType = CU_RESOURCE_TYPE_ARRAY;
	r.res.array.hArray = array;
	CUsurfObject made = 0;
	CUresult result = cuSurfObjectCreate(&made, &r);
	*object = made;
	return result;
}
*/
import "C"

import (
	"fmt"
	"unsafe"

	"warpbook/gpu/cuda/command"
)

// array is memory of textures and surfaces.
type array struct {
	handle             C.CUarray
	row, height, depth int64 // bytes, rows, and slices or layers
}

// formatBytes are the bytes of a channel, by CUarray_format.
var formatBytes = map[uint32]int64{0x01: 1, 0x02: 2, 0x03: 4, 0x08: 1, 0x09: 2, 0x0a: 4, 0x10: 2, 0x20: 4}

func (w *worker) newArray(c *command.Array) error {
	a := array{row: int64(c.Size[0]) * int64(c.Channels) * formatBytes[c.Format], height: max(1, int64(c.Size[1])), depth: max(1, int64(c.Size[2]), int64(c.Layers))}
	surface := C.int(0)
	if c.Surface {
		surface = 1
	}
	err := failed(C.makeArray(&a.handle, (*C.uint)(unsafe.Pointer(&c.Size[0])), C.uint(c.Layers), C.uint(c.Format), C.uint(c.Channels), surface),
		fmt.Sprintf("array of %v elements, %d layers", c.Size, c.Layers))
	if err != nil {
		return left(err)
	}
	w.arrays[c.Array] = a
	return nil
}

func (w *worker) copyArray(c *command.CopyArray) error {
	a, err := find(w.arrays, c.Array, "array")
	if err != nil {
		return err
	}
	at, err := w.part(c.Buffer)
	if err != nil {
		return err
	}
	if n := a.row * a.height * a.depth; c.Buffer.Bytes != n {
		return &failure{code: command.CodeProtocol, text: fmt.Sprintf("copy of %d bytes, an array of %d", c.Buffer.Bytes, n)}
	}
	read := C.int(0)
	if c.Read {
		read = 1
	}
	return failed(C.copyArray(a.handle, C.CUdeviceptr(at), C.size_t(a.row), C.size_t(a.height), C.size_t(a.depth), read), "copy of an array")
}

func (w *worker) freeArray(number uint32) error {
	a, err := find(w.arrays, number, "array")
	if err != nil {
		return err
	}
	delete(w.arrays, number)
	return failed(C.cuArrayDestroy(a.handle), "free")
}

// addressModes are CUDA's numbers of the address modes of package gpu.
var addressModes = [...]C.uint{C.CU_TR_ADDRESS_MODE_CLAMP, C.CU_TR_ADDRESS_MODE_BORDER, C.CU_TR_ADDRESS_MODE_WRAP, C.CU_TR_ADDRESS_MODE_MIRROR}

func (w *worker) texture(c *command.Texture) ([]int64, error) {
	var a array
	var at C.CUdeviceptr
	if c.Array != 0 {
		var err error
		if a, err = find(w.arrays, c.Array, "array"); err != nil {
			return nil, err
		}
	} else {
		p, err := w.part(c.Buffer)
		if err != nil {
			return nil, err
		}
		at = C.CUdeviceptr(p)
	}
	var flags C.uint
	if !c.Scaled {
		flags |= C.CU_TRSF_READ_AS_INTEGER
	}
	if c.Normalised {
		flags |= C.CU_TRSF_NORMALIZED_COORDINATES
	}
	linear := C.int(0)
	if c.Linear {
		linear = 1
	}
	var made C.ulonglong
	err := failed(C.makeTexture(&made, a.handle, at, C.size_t(c.Buffer.Bytes), C.uint(c.Format), C.uint(c.Channels),
		addressModes[min(int(c.Address), len(addressModes)-1)], linear, flags, (*C.float)(unsafe.Pointer(&c.Border[0]))), "texture")
	return []int64{int64(made)}, err
}

func (w *worker) surface(c *command.Surface) ([]int64, error) {
	a, err := find(w.arrays, c.Array, "array")
	if err != nil {
		return nil, err
	}
	var made C.ulonglong
	err = failed(C.makeSurface(&made, a.handle), "surface")
	return []int64{int64(made)}, err
}

func freeObject(c *command.FreeObject) error {
	if c.Surface {
		return failed(C.cuSurfObjectDestroy(C.CUsurfObject(c.Object)), "free")
	}
	return failed(C.cuTexObjectDestroy(C.CUtexObject(c.Object)), "free")
}
