// Copies and sets of volumes, row by row.
#include "internal.h"

// corner is the address of a place in a volume.
static char *corner(struct cudaPitchedPtr p, struct cudaPos at) { return (char *)p.ptr + (at.z * p.ysize + at.y) * p.pitch + at.x; }

// whole is an array as a volume; its places, which count elements, become bytes.
static struct cudaPitchedPtr whole(cudaArray_t a, struct cudaPos *at) {
  at->x *= a->element;
  return (struct cudaPitchedPtr){a->memory, a->row, a->extent.width, atLeastOne(a->extent.height)};
}

// inside is an error where a copy leaves an array: a row that is too long would go on in the next one.
static cudaError_t inside(cudaArray_t a, struct cudaPos at, struct cudaExtent e, const char *side, uint64_t here) {
  static const char *const names[] = {"elements of a row", "rows", "slices"};
  size_t from[] = {at.x, at.y, at.z}, many[] = {e.width, e.height, e.depth}, of[] = {a->extent.width, atLeastOne(a->extent.height), atLeastOne(a->extent.depth)};
  for (int i = 0; i < 3; i++)
    if (from[i] > of[i] || many[i] > of[i] - from[i])
      return wb_fail(cudaErrorInvalidValue, here, 0, "%zu %s from number %zu, and the array of the %s has %zu: with an array the width counts elements", many[i], names[i], from[i], side, of[i]);
  return cudaSuccess;
}

static cudaError_t copy3d(const struct cudaMemcpy3DParms *c, int wait, uint64_t here) {
  if (!c) return wb_fail(cudaErrorInvalidValue, here, 0, "the parameters are null");
  struct cudaPitchedPtr source = c->srcPtr, target = c->dstPtr;
  struct cudaPos from = c->srcPos, to = c->dstPos;
  size_t width = c->extent.width;
  if (c->srcArray && c->dstArray && c->srcArray->element != c->dstArray->element)
    return wb_fail(cudaErrorInvalidValue, here, 0, "elements of %zu and of %zu bytes", c->srcArray->element, c->dstArray->element);
  cudaError_t wrong = c->srcArray ? inside(c->srcArray, from, c->extent, "source", here) : cudaSuccess;
  if (!wrong && c->dstArray) wrong = inside(c->dstArray, to, c->extent, "destination", here);
  if (wrong) return wrong;
  if (c->srcArray || c->dstArray) width *= (c->srcArray ? c->srcArray : c->dstArray)->element;
  if (c->srcArray) source = whole(c->srcArray, &from);
  if (c->dstArray) target = whole(c->dstArray, &to);
  for (size_t z = 0; z < c->extent.depth; z++, from.z++, to.z++) {
    int last = wait && z + 1 == c->extent.depth;
    cudaError_t e = copy2d(corner(target, to), target.pitch, corner(source, from), source.pitch, width, c->extent.height, c->kind, last, here);
    if (e) return e;
  }
  return wb_result(wb_ready());
}
API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *c) { return copy3d(c, 1, HERE); }
API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *c, cudaStream_t stream) { return IN(stream, copy3d(c, 0, HERE)); }

static cudaError_t set3d(struct cudaPitchedPtr p, int value, struct cudaExtent extent, uint64_t here) {
  for (size_t z = 0; z < extent.depth; z++) {
    cudaError_t e = set2d(corner(p, (struct cudaPos){0, 0, z}), p.pitch, value, extent.width, extent.height, here);
    if (e) return e;
  }
  return wb_result(wb_ready());
}
API cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent extent) { return set3d(p, value, extent, HERE); }
API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent extent, cudaStream_t stream) { return IN(stream, set3d(p, value, extent, HERE)); }
