//go:build cuda

package main

// What gorgonia.org/cu lacks: loading with the assembler's log, parameters of
// any size, cooperative launches, more than 48 KiB of shared memory, host
// memory that was registered, stream-ordered allocation, occupancy, and graphs
// by capture. graph.go has graphs by nodes, tensormap.go tensor maps.

/*
#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { logBytes = 16 << 10 };

static CUresult loadModule(CUmodule *module, const char *text, char *log) {
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_GENERATE_LINE_INFO};
	void *values[] = {log, (void *)(size_t)logBytes, (void *)(size_t)1};
	return cuModuleLoadDataEx(module, text, 3, options, values);
}

// Parameters are passed one by one and not in one buffer, because the assembler
// places parameters that are aligned to more than 16 bytes after the buffer's begin.
static CUresult launch(CUfunction f, const unsigned *shape, const unsigned *cluster, unsigned shared, int cooperative,
                       CUstream stream, char *params, const unsigned *offsets, unsigned n) {
	void *at[n + 1];
	for (unsigned i = 0; i < n; i++)
		at[i] = params + offsets[i];
	if (!cooperative && !cluster[0])
		return cuLaunchKernel(f, shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shared, stream, at, NULL);
	CUlaunchAttribute attributes[2];
	unsigned count = 0;
	memset(attributes, 0, sizeof attributes);
	if (cooperative) {
		attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		attributes[count++].value.cooperative = 1;
	}
	if (cluster[0]) {
		attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		attributes[count].value.clusterDim.x = cluster[0];
		attributes[count].value.clusterDim.y = cluster[1];
		attributes[count++].value.clusterDim.z = cluster[2];
	}
	CUlaunchConfig config = {shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shared, stream, attributes, count};
	return cuLaunchKernelEx(&config, f, at, NULL);
}

// occupyClusters is how many clusters the device holds at a time, 0 if it never holds one, and
// the most blocks that a cluster may have.
static CUresult occupyClusters(int *clusters, int *most, CUfunction f, const unsigned *block, const unsigned *cluster, unsigned shared) {
	CUlaunchAttribute attribute;
	memset(&attribute, 0, sizeof attribute);
	attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
	attribute.value.clusterDim.x = cluster[0];
	attribute.value.clusterDim.y = cluster[1];
	attribute.value.clusterDim.z = cluster[2];
	CUlaunchConfig config = {cluster[0], cluster[1], cluster[2], block[0], block[1], block[2], shared, NULL, NULL, 0};
	CUresult r = cuOccupancyMaxPotentialClusterSize(most, f, &config);
	if (r != CUDA_SUCCESS)
		return r;
	config.attrs = &attribute;
	config.numAttrs = 1;
	r = cuOccupancyMaxActiveClusters(clusters, f, &config);
	if (r == CUDA_ERROR_INVALID_CLUSTER_SIZE) {
		*clusters = 0;
		return CUDA_SUCCESS;
	}
	return r;
}

static CUresult beginCapture(CUstream stream) {
	return cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

static CUresult endCapture(CUstream stream, CUgraphExec *exec) {
	CUgraph graph = NULL;
	CUresult r = cuStreamEndCapture(stream, &graph);
	if (r == CUDA_SUCCESS && exec)
		r = cuGraphInstantiateWithFlags(exec, graph, 0);
	if (graph)
		cuGraphDestroy(graph);
	return r;
}

static CUresult allocAsync(CUdeviceptr *at, size_t bytes, CUstream stream) { return cuMemAllocAsync(at, bytes, stream); }

static CUresult freeAsync(CUdeviceptr at, CUstream stream) { return cuMemFreeAsync(at, stream); }

// keepPool lets the device's pool keep freed memory. Otherwise each Sync returns
// it to the driver, and the next allocation requests it again.
static CUresult keepPool(CUdevice device) {
	CUmemoryPool pool;
	cuuint64_t all = UINT64_MAX;
	CUresult r = cuDeviceGetDefaultMemPool(&pool, device);
	return r == CUDA_SUCCESS ? cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all) : r;
}

static CUresult emptyPool(CUdevice device) {
	CUmemoryPool pool;
	CUresult r = cuCtxSynchronize();
	if (r == CUDA_SUCCESS)
		r = cuDeviceGetDefaultMemPool(&pool, device);
	return r == CUDA_SUCCESS ? cuMemPoolTrimTo(pool, 0) : r;
}

static CUresult allocPinned(void **host, CUdeviceptr *device, size_t bytes) {
	CUresult r = cuMemHostAlloc(host, bytes, CU_MEMHOSTALLOC_DEVICEMAP);
	return r == CUDA_SUCCESS ? cuMemHostGetDevicePointer(device, *host, 0) : r;
}
*/
import "C"

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"gorgonia.org/cu"

	"warpbook/gpu/cuda/command"
)

// failure is an error with the code that the client judges it by.
type failure struct {
	code     int32
	text     string
	launches []command.Suspect // one of them caused it; set where it is more exact than the progress words
}

func (f *failure) Error() string { return f.text }

// failed turns a code of the driver into an error.
func failed(code C.CUresult, what string) error {
	if code == C.CUDA_SUCCESS {
		return nil
	}
	var name, text *C.char
	C.cuGetErrorName(code, &name)
	C.cuGetErrorString(code, &text)
	if name == nil || text == nil {
		return &failure{code: int32(code), text: fmt.Sprintf("%s: CUDA error %d", what, code)}
	}
	return &failure{code: int32(code), text: fmt.Sprintf("%s: %s, %s", what, C.GoString(name), C.GoString(text))}
}

// wrap does the same for an error of cu, whose type is not exported but is the
// driver's code.
func wrap(err error, what string) error {
	if err == nil {
		return nil
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		return failed(C.CUresult(v.Int()), what)
	}
	return &failure{code: command.CodeProtocol, text: what + ": " + err.Error()}
}

// module and function are the driver's own handles: code outside of cu cannot make
// cu's types of them.
type (
	module   struct{ handle C.CUmodule }
	function struct {
		handle  C.CUfunction
		offsets []uint32 // of its parameters
	}
	graph struct{ exec C.CUgraphExec }
)

func streamHandle(s cu.Stream) C.CUstream { return C.CUstream(unsafe.Pointer(s.C())) }

// loadModule loads PTX; the error holds the assembler's log.
func loadModule(text string) (module, error) {
	source := C.CString(text)
	defer C.free(unsafe.Pointer(source))
	log := (*C.char)(C.calloc(1, C.logBytes))
	defer C.free(unsafe.Pointer(log))
	var m module
	err := failed(C.loadModule(&m.handle, source, log), "load")
	if lines := strings.TrimSpace(C.GoString(log)); err != nil && lines != "" {
		err.(*failure).text += "\n" + lines
	}
	return m, err
}

func (m module) unload() error { return failed(C.cuModuleUnload(m.handle), "unload") }

func (m module) function(name string, offsets []uint32) (function, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	f := function{offsets: offsets}
	return f, failed(C.cuModuleGetFunction(&f.handle, m.handle, c), "entry "+name)
}

func (m module) variable(name string) (cu.DevicePtr, int64, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	var at C.CUdeviceptr
	var bytes C.size_t
	err := failed(C.cuModuleGetGlobal(&at, &bytes, m.handle, c), "variable "+name)
	return cu.DevicePtr(at), int64(bytes), err
}

// attributes are the values that Load answers for an entry.
func (f function) attributes() ([]int64, error) {
	var values []int64
	for _, a := range []C.CUfunction_attribute{C.CU_FUNC_ATTRIBUTE_NUM_REGS, C.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
		C.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, C.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK} {
		var v C.int
		if err := failed(C.cuFuncGetAttribute(&v, a, f.handle), "attributes"); err != nil {
			return nil, err
		}
		values = append(values, int64(v))
	}
	return values, nil
}

// allowShared lets a launch have more dynamic shared memory than the default limit.
func (f function) allowShared(bytes uint32) error {
	return failed(C.cuFuncSetAttribute(f.handle, C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(bytes)), "shared memory")
}

func (f function) occupancy(threads, shared uint32) (int64, error) {
	var n C.int
	err := failed(C.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f.handle, C.int(threads), C.size_t(shared)), "occupancy")
	return int64(n), err
}

// allowLarge lets clusters have more than the 8 blocks that every GPU with clusters runs.
func (f function) allowLarge() error {
	return failed(C.cuFuncSetAttribute(f.handle, C.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), "large clusters")
}

func (f function) clusters(block, cluster *[3]uint32, shared uint32) ([]int64, error) {
	var n, most C.int
	err := failed(C.occupyClusters(&n, &most, f.handle, (*C.uint)(unsafe.Pointer(block)), (*C.uint)(unsafe.Pointer(cluster)), C.uint(shared)), "clusters")
	return []int64{int64(n), int64(most)}, err
}

// launch runs a function. The driver copies the parameters before launch returns.
func (f function) launch(shape *[6]uint32, cluster *[3]uint32, shared uint32, cooperative bool, stream cu.Stream, params []byte) error {
	together := C.int(0)
	if cooperative {
		together = 1
	}
	return failed(C.launch(f.handle, (*C.uint)(unsafe.Pointer(shape)), (*C.uint)(unsafe.Pointer(cluster)), C.uint(shared), together, streamHandle(stream),
		charsOf(params), uintsOf(f.offsets), C.uint(len(f.offsets))), "launch")
}

func charsOf(b []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))) }

func uintsOf(u []uint32) *C.uint { return (*C.uint)(unsafe.Pointer(unsafe.SliceData(u))) }

func register(memory []byte) error {
	return failed(C.cuMemHostRegister(unsafe.Pointer(&memory[0]), C.size_t(len(memory)), C.CU_MEMHOSTREGISTER_PORTABLE), "register")
}

func unregister(at *byte) error {
	return failed(C.cuMemHostUnregister(unsafe.Pointer(at)), "unregister")
}

// pinned allocates memory of the host that the device can write to.
func pinned(bytes int) ([]byte, cu.DevicePtr, error) {
	var host unsafe.Pointer
	var device C.CUdeviceptr
	if err := failed(C.allocPinned(&host, &device, C.size_t(bytes)), "pinned memory"); err != nil {
		return nil, 0, err
	}
	return unsafe.Slice((*byte)(host), bytes), cu.DevicePtr(device), nil
}

// allocAsync allocates from the device's pool in the order of a stream.
func allocAsync(bytes int64, stream cu.Stream) (cu.DevicePtr, error) {
	var at C.CUdeviceptr
	err := failed(C.allocAsync(&at, C.size_t(bytes), streamHandle(stream)), "alloc async")
	return cu.DevicePtr(at), err
}

func keepPool(device cu.Device) error {
	return failed(C.keepPool(C.CUdevice(device)), "memory pool")
}

// emptyPool waits for the device and returns the pool's free memory to the driver.
func emptyPool(device cu.Device) error {
	return failed(C.emptyPool(C.CUdevice(device)), "memory pool")
}

func freeAsync(at cu.DevicePtr, stream cu.Stream) error {
	return failed(C.freeAsync(C.CUdeviceptr(at), streamHandle(stream)), "free async")
}

// capture records the work that f submits to a stream as a graph.
func capture(stream cu.Stream, f func() error) (graph, error) {
	var g graph
	if err := failed(C.beginCapture(streamHandle(stream)), "graph"); err != nil {
		return g, err
	}
	if err := f(); err != nil {
		C.endCapture(streamHandle(stream), nil)
		return g, err
	}
	return g, failed(C.endCapture(streamHandle(stream), &g.exec), "graph")
}

func (g graph) launch(stream cu.Stream) error {
	return failed(C.cuGraphLaunch(g.exec, streamHandle(stream)), "graph")
}

func (g graph) close() error { return failed(C.cuGraphExecDestroy(g.exec), "graph") }

var errInterrupted = &failure{code: command.CodeInterrupted, text: "the measurement was interrupted"}
