//go:build cuda

package main

/*
#include <cuda.h>
#include <string.h>

static CUresult addLaunch(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t before, CUfunction f, const unsigned *shape,
                          const unsigned *cluster, unsigned shared, int cooperative, char *params, const unsigned *offsets, unsigned n) {
	void *at[n + 1];
	for (unsigned i = 0; i < n; i++)
		at[i] = params + offsets[i];
	CUDA_KERNEL_NODE_PARAMS p = {f, shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shared, at};
	CUresult r = cuGraphAddKernelNode(node, graph, after, before, &p);
	CUlaunchAttributeValue value;
	if (r == CUDA_SUCCESS && cooperative) {
		memset(&value, 0, sizeof value);
		value.cooperative = 1;
		r = cuGraphKernelNodeSetAttribute(*node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
	}
	if (r == CUDA_SUCCESS && cluster[0]) {
		memset(&value, 0, sizeof value);
		value.clusterDim.x = cluster[0];
		value.clusterDim.y = cluster[1];
		value.clusterDim.z = cluster[2];
		r = cuGraphKernelNodeSetAttribute(*node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
	}
	return r;
}

static CUresult updateLaunch(CUgraphExec exec, CUgraphNode node, CUfunction f, const unsigned *shape, unsigned shared,
                             char *params, const unsigned *offsets, unsigned n) {
	void *at[n + 1];
	for (unsigned i = 0; i < n; i++)
		at[i] = params + offsets[i];
	CUDA_KERNEL_NODE_PARAMS p = {f, shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shared, at};
	return cuGraphExecKernelNodeSetParams(exec, node, &p);
}

static CUresult addCopy(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n, CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
	CUcontext context;
	CUresult r = cuCtxGetCurrent(&context);
	if (r != CUDA_SUCCESS)
		return r;
	CUDA_MEMCPY3D p;
	memset(&p, 0, sizeof p);
	p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_UNIFIED; // the driver tells host and device apart
	p.srcDevice = src;
	p.dstDevice = dst;
	p.WidthInBytes = bytes;
	p.Height = p.Depth = 1;
	return cuGraphAddMemcpyNode(node, graph, after, n, &p, context);
}

static CUresult addZero(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n, CUdeviceptr at, size_t bytes) {
	CUcontext context;
	CUresult r = cuCtxGetCurrent(&context);
	if (r != CUDA_SUCCESS)
		return r;
	CUDA_MEMSET_NODE_PARAMS p;
	memset(&p, 0, sizeof p);
	p.dst = at;
	p.elementSize = 1;
	p.width = bytes;
	p.height = 1;
	return cuGraphAddMemsetNode(node, graph, after, n, &p, context);
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph) { return cuGraphInstantiateWithFlags(exec, graph, 0); }
*/
import "C"

import (
	"unsafe"

	"gorgonia.org/cu"

	"warpbook/gpu/cuda/command"
)

// nodes is a graph that was built node by node, so that its launches can be
// updated.
type nodes struct {
	graph    graph
	source   C.CUgraph
	at       []C.CUgraphNode   // by the client's numbers; of a launch, the launch itself
	launches []command.Suspect // for faults
}

func (w *worker) makeGraph(c *command.Graph) error {
	g := &nodes{}
	if err := failed(C.cuGraphCreate(&g.source, 0), "graph"); err != nil {
		return err
	}
	for i := range c.Nodes {
		if err := w.addNode(g, &c.Nodes[i]); err != nil {
			g.close()
			return err
		}
	}
	if err := failed(C.instantiate(&g.graph.exec, g.source), "graph"); err != nil {
		g.close()
		return err
	}
	w.graphs[c.Graph] = g
	return nil
}

// after is the nodes that one waits for.
func (g *nodes) after(numbers []uint32) (list []C.CUgraphNode, err error) {
	for _, n := range numbers {
		if int(n) >= len(g.at) {
			return nil, &failure{code: command.CodeProtocol, text: "a node that waits for a later one"}
		}
		list = append(list, g.at[n])
	}
	return list, nil
}

func (w *worker) addNode(g *nodes, n *command.Node) error {
	after, err := g.after(n.After)
	if err != nil {
		return err
	}
	var node C.CUgraphNode
	switch n.Work {
	case command.NodeLaunch:
		node, err = w.addLaunch(g, after, &n.Launch)
	case command.NodeCopy:
		node, err = w.addCopy(g, after, &n.Copy)
	default:
		node, err = w.addZero(g, after, n.Zero)
	}
	g.at = append(g.at, node)
	return err
}

// addLaunch adds a launch after the clearing of the buffers that it sets to 0.
func (w *worker) addLaunch(g *nodes, after []C.CUgraphNode, c *command.Launch) (node C.CUgraphNode, err error) {
	for _, z := range c.Zero {
		if node, err = w.addZero(g, after, z); err != nil {
			return node, err
		}
		after = []C.CUgraphNode{node}
	}
	var r ready
	if err := w.prepare(c, &r); err != nil {
		return node, err
	}
	g.launches = append(g.launches, r.describe())
	together := C.int(0)
	if r.cooperative {
		together = 1
	}
	return node, failed(C.addLaunch(&node, g.source, unsafe.SliceData(after), C.size_t(len(after)), r.entry.function.handle,
		(*C.uint)(unsafe.Pointer(&r.shape)), (*C.uint)(unsafe.Pointer(&r.cluster)), C.uint(r.shared), together, charsOf(r.params), uintsOf(r.entry.function.offsets), C.uint(len(r.entry.function.offsets))), "graph: launch")
}

func (w *worker) addCopy(g *nodes, after []C.CUgraphNode, c *command.Copy) (node C.CUgraphNode, err error) {
	if c.Bytes == 0 {
		return g.addEmpty(after)
	}
	dst, err := w.place(c.Dst, c.Bytes)
	if err != nil {
		return node, err
	}
	src, err := w.place(c.Src, c.Bytes)
	if err != nil {
		return node, err
	}
	return node, failed(C.addCopy(&node, g.source, unsafe.SliceData(after), C.size_t(len(after)),
		C.CUdeviceptr(dst), C.CUdeviceptr(src), C.size_t(c.Bytes)), "graph: copy")
}

func (w *worker) addZero(g *nodes, after []C.CUgraphNode, r command.Range) (node C.CUgraphNode, err error) {
	if r.Bytes == 0 {
		return g.addEmpty(after)
	}
	at, err := w.part(r)
	if err != nil {
		return node, err
	}
	return node, failed(C.addZero(&node, g.source, unsafe.SliceData(after), C.size_t(len(after)), C.CUdeviceptr(at), C.size_t(r.Bytes)), "graph: zero")
}

func (g *nodes) addEmpty(after []C.CUgraphNode) (node C.CUgraphNode, err error) {
	return node, failed(C.cuGraphAddEmptyNode(&node, g.source, unsafe.SliceData(after), C.size_t(len(after))), "graph")
}

func (w *worker) updateGraph(c *command.UpdateGraph) error {
	g, err := find(w.graphs, c.Graph, "graph")
	if err != nil {
		return err
	}
	if int(c.Node) >= len(g.at) {
		return &failure{code: command.CodeProtocol, text: "an update of a node that does not exist"}
	}
	var r ready
	if err := w.prepare(&c.Launch, &r); err != nil {
		return err
	}
	return failed(C.updateLaunch(g.graph.exec, g.at[c.Node], r.entry.function.handle, (*C.uint)(unsafe.Pointer(&r.shape)), C.uint(r.shared),
		charsOf(r.params), uintsOf(r.entry.function.offsets), C.uint(len(r.entry.function.offsets))), "update")
}

func (w *worker) launchGraph(c *command.LaunchGraph) error {
	g, err := find(w.graphs, c.Graph, "graph")
	if err != nil {
		return err
	}
	s, err := find(w.streams, c.Stream, "stream")
	if err != nil {
		return err
	}
	if err := w.mark(s, group{graph: g}); err != nil {
		return err
	}
	return g.graph.launch(s.stream)
}

// closeGraph waits for the device, so that a fault is still attributed to the graph.
func (w *worker) closeGraph(number uint32) error {
	g, err := find(w.graphs, number, "graph")
	if err != nil {
		return err
	}
	if err := cu.Synchronize(); err != nil {
		return wrap(err, "sync")
	}
	delete(w.graphs, number)
	return g.close()
}

func (g *nodes) close() error {
	var err error
	if g.graph.exec != nil {
		err = g.graph.close()
	}
	if e := failed(C.cuGraphDestroy(g.source), "close graph"); err == nil {
		err = e
	}
	return err
}
