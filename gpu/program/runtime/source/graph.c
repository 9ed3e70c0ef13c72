// Graphs: work that is recorded, and launched as often as the program wants. While a stream is
// captured, or a node is added, launches and sets are kept as messages; copies and functions
// of the host are made again at each launch. The nodes run in the order of their recording,
// which is one that their dependencies allow.
#include "internal.h"

typedef struct {
  enum { nodeEmpty, nodeMessage, nodeCopy, nodeHost } kind;
  unsigned int op;   // of a message
  uint64_t here;
  uint64_t *body;    // of a message
  size_t bytes;      // of a message's body, or of a copy
  void *to;          // of a copy; the data of a function
  const void *from;
  unsigned int copy; // kind of a copy
  cudaHostFn_t call;
} node;

struct CUgraph_st {
  node *list;
  size_t count, room;
};
struct CUgraphExec_st {
  struct CUgraph_st work;
};
static struct CUgraph_st *recording; // takes the work, 0 for none
static cudaStream_t captured;
static int capturing; // a stream, and not one node

static void record(node n) {
  recording->list = grow(recording->list, recording->count, &recording->room, sizeof n);
  recording->list[recording->count++] = n;
}

// wb_record keeps a message in place of sending it; it returns 0 if nothing is recorded.
int wb_record(unsigned int op, uint64_t here, const uint64_t *body, size_t bytes) {
  if (!recording || (op != WB_OP_LAUNCH && op != WB_OP_SET)) return 0;
  node n = {.kind = nodeMessage, .op = op, .here = here, .body = malloc(bytes + 8), .bytes = bytes};
  if (!n.body) abort();
  memcpy(n.body, body, bytes);
  record(n);
  return 1;
}
int wb_record_copy(void *to, const void *from, size_t bytes, unsigned int kind, uint64_t here) {
  if (!recording) return 0;
  record((node){.kind = nodeCopy, .to = to, .from = from, .bytes = bytes, .copy = kind, .here = here});
  return 1;
}
int wb_record_call(cudaHostFn_t call, void *data) {
  if (!recording) return 0;
  record((node){.kind = nodeHost, .call = call, .to = data});
  return 1;
}
int wb_recording(void) { return recording != 0; }

// wb_uncapturable is the error of a call that waits while a stream is captured.
cudaError_t wb_uncapturable(uint64_t here) {
  return wb_fail(cudaErrorStreamCaptureUnsupported, here, 0, "a stream is captured: the call waits, which a graph cannot: call it after cudaStreamEndCapture");
}

static struct CUgraph_st *newGraph(void) { return calloc(1, sizeof(struct CUgraph_st)); }

API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (!stream) return wb_fail(cudaErrorStreamCaptureUnsupported, HERE, 0, "the legacy stream cannot be captured: create a stream");
  if (recording) return wb_fail(cudaErrorIllegalState, HERE, 0, "a stream is captured already: one is at a time");
  recording = newGraph();
  captured = stream, capturing = 1;
  return recording ? cudaSuccess : wb_result(cudaErrorMemoryAllocation);
}
API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  if (!capturing || stream != captured) return wb_fail(cudaErrorIllegalState, HERE, 0, "the stream is not captured");
  *graph = recording;
  recording = 0, capturing = 0;
  return cudaSuccess;
}
API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  *status = capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return wb_result(wb_ready());
}

API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  *graph = newGraph();
  return *graph ? cudaSuccess : wb_result(cudaErrorMemoryAllocation);
}

// begin and end stand around the work of one node. Its number is its handle.
static cudaError_t begin(cudaGraph_t graph, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (!graph) return wb_fail(cudaErrorInvalidValue, here, 0, "the graph is null");
  if (recording) return wb_fail(cudaErrorIllegalState, here, 0, "a stream is captured: add nodes after cudaStreamEndCapture");
  recording = graph;
  return cudaSuccess;
}
static cudaError_t end_node(cudaGraphNode_t *n, cudaError_t e) {
  if (n) *n = (cudaGraphNode_t)(uintptr_t)recording->count;
  recording = 0;
  return e;
}

struct kernelNode { // cudaKernelNodeParams, which is C++
  void *kernel;
  dim3 grid, block;
  unsigned int shared;
  void **arguments, **extra;
};
API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *n, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct kernelNode *k) {
  cudaError_t e = begin(graph, HERE);
  return e ? e : end_node(n, launch(k->kernel, k->grid, k->block, k->arguments, k->shared, 0, 0, (dim3){0, 0, 0}, HERE));
}
API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *n, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  cudaError_t e = begin(graph, HERE);
  if (e) return e;
  wb_record_copy(to, from, bytes, kind, HERE);
  return end_node(n, cudaSuccess);
}
API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *n, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct cudaMemcpy3DParms *p) {
  cudaError_t e = begin(graph, HERE);
  return e ? e : end_node(n, copy3d(p, 0, HERE));
}
API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *n, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct cudaMemsetParams *p) {
  if (p->elementSize != 1 && p->value) return wb_fail(cudaErrorNotSupported, HERE, 0, "a set of elements of %u bytes to another value than 0: set bytes", p->elementSize);
  cudaError_t e = begin(graph, HERE);
  return e ? e : end_node(n, p->height > 1 ? set2d(p->dst, p->pitch, (int)p->value, p->width * p->elementSize, p->height, HERE) : set(p->dst, (int)p->value, p->width * p->elementSize, HERE));
}
API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *n, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct cudaHostNodeParams *p) {
  cudaError_t e = begin(graph, HERE);
  if (e) return e;
  wb_record_call(p->fn, p->userData);
  return end_node(n, cudaSuccess);
}
API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *n, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count) {
  cudaError_t e = begin(graph, HERE);
  if (e) return e;
  record((node){.kind = nodeEmpty});
  return end_node(n, cudaSuccess);
}
API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) {
  for (size_t i = 0; i < count; i++)
    if ((uintptr_t)from[i] >= (uintptr_t)to[i])
      return wb_fail(cudaErrorNotSupported, HERE, 0, "a node cannot wait for one that was added after it: add them in the order of their work");
  return wb_result(wb_ready());
}
API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  for (size_t i = 0; nodes && i < *count && i < graph->count; i++) nodes[i] = (cudaGraphNode_t)(uintptr_t)(i + 1);
  *count = graph->count;
  return cudaSuccess;
}

static void drop(struct CUgraph_st *g) {
  for (size_t i = 0; i < g->count; i++) free(g->list[i].body);
  free(g->list);
}

// duplicate records the work of a graph in another, which is empty.
static void duplicate(struct CUgraph_st *to, const struct CUgraph_st *from) {
  struct CUgraph_st *before = recording;
  recording = to;
  for (size_t i = 0; i < from->count; i++) {
    node *n = &from->list[i];
    if (n->kind == nodeMessage) wb_record(n->op, n->here, n->body, n->bytes);
    else record(*n);
  }
  recording = before;
}
API cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
  if (!graph) return wb_fail(cudaErrorInvalidValue, HERE, 0, "the graph is null");
  *clone = newGraph();
  if (!*clone) return wb_result(cudaErrorMemoryAllocation);
  duplicate(*clone, graph);
  return cudaSuccess;
}
API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
  if (!graph) return wb_fail(cudaErrorInvalidValue, HERE, 0, "the graph is null");
  struct CUgraphExec_st *made = calloc(1, sizeof *made);
  if (!made) return wb_result(cudaErrorMemoryAllocation);
  duplicate(&made->work, graph);
  *exec = made;
  return cudaSuccess;
}
// An update takes the arguments of a graph with the same nodes.
API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result) {
  int same = exec->work.count == graph->count;
  for (size_t i = 0; same && i < graph->count; i++) same = exec->work.list[i].kind == graph->list[i].kind && exec->work.list[i].op == graph->list[i].op;
  if (result) *result = (cudaGraphExecUpdateResultInfo){same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged, 0, 0};
  if (!same) return wb_result(cudaErrorGraphExecUpdateFailure);
  drop(&exec->work);
  exec->work = (struct CUgraph_st){0};
  duplicate(&exec->work, graph);
  return cudaSuccess;
}
API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t n, const struct kernelNode *k) {
  uint64_t at = (uintptr_t)n;
  struct CUgraph_st one = {0};
  if (at == 0 || at > exec->work.count || exec->work.list[at - 1].op != WB_OP_LAUNCH) return wb_fail(cudaErrorInvalidValue, HERE, 0, "it is no node of a kernel");
  cudaError_t e = begin(&one, HERE);
  if (e) return e;
  e = end_node(0, launch(k->kernel, k->grid, k->block, k->arguments, k->shared, 0, 0, (dim3){0, 0, 0}, HERE));
  if (!e && one.count == 1) {
    free(exec->work.list[at - 1].body);
    exec->work.list[at - 1] = one.list[0];
  }
  free(one.list);
  return e;
}

// again does the work of a node.
static cudaError_t again(const node *n, cudaStream_t stream) {
  switch (n->kind) {
    case nodeMessage: {
      wb_lock();
      uint64_t *m = wb_message(n->op, n->here, n->bytes / 8, 0);
      memcpy(m, n->body, n->bytes);
      m[n->op == WB_OP_LAUNCH ? 5 : 3] = (uintptr_t)stream;
      wb_send();
      wb_unlock();
      return cudaSuccess;
    }
    case nodeCopy: return IN(stream, copy((void *)n->to, n->from, n->bytes, n->copy, 0, n->here));
    case nodeHost: return cudaLaunchHostFunc(stream, n->call, n->to);
    default: return cudaSuccess;
  }
}
API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (recording) return wb_fail(cudaErrorNotSupported, HERE, 0, "a graph in a graph");
  wb_lock();
  wb_managed_to_device(HERE);
  wb_unlock();
  for (size_t i = 0; i < exec->work.count && !e; i++) e = again(&exec->work.list[i], stream);
  return e;
}
API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) { return wb_result(wb_ready()); }

API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  if (!exec) return wb_fail(cudaErrorInvalidValue, HERE, 0, "the graph is null");
  drop(&exec->work);
  free(exec);
  return cudaSuccess;
}
API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (!graph) return wb_fail(cudaErrorInvalidValue, HERE, 0, "the graph is null");
  drop(graph);
  free(graph);
  return cudaSuccess;
}
