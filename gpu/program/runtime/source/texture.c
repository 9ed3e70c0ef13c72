// Arrays, which are memory of the device in rows, and objects of textures and surfaces.
#include "internal.h"

struct cudaArray {
  struct cudaChannelFormatDesc desc;
  struct cudaExtent extent;
  unsigned int flags;
  char *memory;
  size_t element, row; // bytes
};

static size_t atLeastOne(size_t n) { return n ? n : 1; }
static int channels(const struct cudaChannelFormatDesc *d) { return (d->x != 0) + (d->y != 0) + (d->z != 0) + (d->w != 0); }
static int even(const struct cudaChannelFormatDesc *d) { // whether the channels have one size
  int n = channels(d), bits[4] = {d->x, d->y, d->z, d->w};
  if (d->x != 8 && d->x != 16 && d->x != 32) return 0;
  for (int i = 0; i < 4; i++)
    if (bits[i] != (i < n ? d->x : 0)) return 0;
  return n != 3;
}

static cudaError_t newArray(cudaArray_t *array, const struct cudaChannelFormatDesc *d, struct cudaExtent extent, unsigned int flags, uint64_t here) {
  if (!array || !d) return wb_fail(cudaErrorInvalidValue, here, 0, "the pointer for the array, or that of its channels, is null");
  if (!even(d)) return wb_fail(cudaErrorInvalidChannelDescriptor, here, 0, "channels of %d, %d, %d and %d bits, expected 1, 2 or 4 of 8, 16 or 32", d->x, d->y, d->z, d->w);
  if (flags & cudaArrayCubemap) return wb_fail(cudaErrorNotSupported, here, 0, "cubemaps are not there");
  if (!extent.width) return wb_fail(cudaErrorInvalidValue, here, 0, "an array without width");
  struct cudaArray *a = malloc(sizeof *a);
  if (!a) return wb_result(cudaErrorMemoryAllocation);
  *a = (struct cudaArray){*d, extent, flags};
  a->element = (size_t)channels(d) * (size_t)d->x / 8;
  a->row = a->element * extent.width;
  cudaError_t e = allocate((void **)&a->memory, a->row * atLeastOne(extent.height) * atLeastOne(extent.depth), wbArray, here);
  if (!e) e = set(a->memory, 0, a->row * atLeastOne(extent.height) * atLeastOne(extent.depth), here);
  if (e) {
    free(a);
    return e;
  }
  *array = a;
  return cudaSuccess;
}
API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height, unsigned int flags) {
  return newArray(array, desc, (struct cudaExtent){width, height, 0}, flags & ~(unsigned int)cudaArrayLayered, HERE);
}
API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned int flags) {
  return newArray(array, desc, extent, flags, HERE);
}
API cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  cudaError_t e = release(array->memory, HERE, 0, 1);
  if (!e) free(array);
  return e;
}
API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned int *flags, cudaArray_t array) {
  if (desc) *desc = array->desc;
  if (extent) *extent = array->extent;
  if (flags) *flags = array->flags;
  return cudaSuccess;
}
API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array) { return *desc = array->desc, cudaSuccess; }

// Copies of rows: places in an array are in bytes and rows.
static cudaError_t rows(void *to, size_t pitch, const void *from, size_t fromPitch, cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height, unsigned int kind, int wait, uint64_t here) {
  if (x > array->row || width > array->row - x || y + height > atLeastOne(array->extent.height) * atLeastOne(array->extent.depth))
    return wb_fail(cudaErrorInvalidValue, here, 0, "%zu bytes from byte %zu of %zu rows, the first of which is row %zu, and the array has %zu rows of %zu bytes: places and widths are in bytes", width, x, height, y, atLeastOne(array->extent.height) * atLeastOne(array->extent.depth), array->row);
  return copy2d(to, pitch, from, fromPitch, width, height, kind, wait, here);
}
static char *corner_of(cudaArray_const_t array, size_t x, size_t y) { return array->memory + y * array->row + x; }

API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind) {
  return rows(corner_of(to, x, y), to->row, from, pitch, to, x, y, width, height, kind, 1, HERE);
}
API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return IN(stream, rows(corner_of(to, x, y), to->row, from, pitch, to, x, y, width, height, kind, 0, HERE));
}
API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind) {
  return rows(to, pitch, corner_of(from, x, y), from->row, from, x, y, width, height, kind, 1, HERE);
}
API cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return IN(stream, rows(to, pitch, corner_of(from, x, y), from->row, from, x, y, width, height, kind, 0, HERE));
}
API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t fromX, size_t fromY, size_t width, size_t height, enum cudaMemcpyKind kind) {
  if (fromX > from->row || width > from->row - fromX || fromY + height > atLeastOne(from->extent.height) * atLeastOne(from->extent.depth))
    return wb_fail(cudaErrorInvalidValue, HERE, 0, "%zu bytes from byte %zu of %zu rows, the first of which is row %zu, and the source has %zu rows of %zu bytes", width, fromX, height, fromY, atLeastOne(from->extent.height) * atLeastOne(from->extent.depth), from->row);
  return rows(corner_of(to, x, y), to->row, corner_of(from, fromX, fromY), from->row, to, x, y, width, height, cudaMemcpyDeviceToDevice, 1, HERE);
}
// The older copies fill rows one after the other.
API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, enum cudaMemcpyKind kind) { return copy(corner_of(to, x, y), from, bytes, kind, 1, HERE); }
API cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind) { return copy(to, corner_of(from, x, y), bytes, kind, 1, HERE); }
API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return IN(stream, copy(corner_of(to, x, y), from, bytes, kind, 0, HERE));
}
API cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return IN(stream, copy(to, corner_of(from, x, y), bytes, kind, 0, HERE));
}

enum { arrayObject, linearObject, pitchObject }; // as package program numbers them

static cudaError_t newObject(unsigned long long *object, const struct cudaResourceDesc *r, const struct cudaTextureDesc *t, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (!object || !r) return wb_fail(cudaErrorInvalidValue, here, 0, "the pointer for the object, or the resource, is null");
  struct cudaChannelFormatDesc d;
  uint64_t address = 0, bytes = 0, shape[4] = {0}, pitch = 0, kind = arrayObject; // width, height, depth, layers
  switch (r->resType) {
    case cudaResourceTypeArray: {
      cudaArray_const_t a = r->res.array.array;
      if (!a) return wb_fail(cudaErrorInvalidValue, here, 0, "the array is null");
      if (!t && !(a->flags & cudaArraySurfaceLoadStore)) return wb_fail(cudaErrorInvalidValue, here, 0, "the array was made without cudaArraySurfaceLoadStore");
      d = a->desc, address = (uintptr_t)a->memory, shape[0] = a->extent.width, shape[1] = a->extent.height;
      shape[a->flags & cudaArrayLayered ? 3 : 2] = a->extent.depth;
      bytes = a->row * atLeastOne(a->extent.height) * atLeastOne(a->extent.depth);
      break;
    }
    case cudaResourceTypeLinear:
      d = r->res.linear.desc, address = (uintptr_t)r->res.linear.devPtr, bytes = r->res.linear.sizeInBytes, kind = linearObject;
      if (d.x >= 8) shape[0] = bytes / ((size_t)channels(&d) * (size_t)d.x / 8);
      break;
    case cudaResourceTypePitch2D:
      d = r->res.pitch2D.desc, address = (uintptr_t)r->res.pitch2D.devPtr, kind = pitchObject;
      shape[0] = r->res.pitch2D.width, shape[1] = r->res.pitch2D.height, pitch = r->res.pitch2D.pitchInBytes;
      bytes = shape[1] ? pitch * (shape[1] - 1) + shape[0] * (size_t)channels(&d) * (size_t)d.x / 8 : 0;
      break;
    default: return wb_fail(cudaErrorNotSupported, here, 0, "mipmaps are not there: make an array by cudaMallocArray");
  }
  if (!even(&d)) return wb_fail(cudaErrorInvalidChannelDescriptor, here, 0, "channels of %d, %d, %d and %d bits, expected 1, 2 or 4 of 8, 16 or 32", d.x, d.y, d.z, d.w);
  static const struct cudaTextureDesc none;
  int surface = !t;
  if (!t) t = &none;
  wb_lock();
  uint64_t *m = wb_message(WB_OP_OBJECT, here, 19, 0);
  m[0] = address, m[1] = bytes, m[2] = (uint64_t)surface, m[3] = (uint64_t)d.f << 8 | (uint64_t)d.x, m[4] = (uint64_t)channels(&d);
  memcpy(m + 5, shape, sizeof shape);
  m[9] = pitch, m[10] = kind;
  m[11] = (uint64_t)(t->addressMode[0] & 255) | (uint64_t)(t->addressMode[1] & 255) << 8 | (uint64_t)(t->addressMode[2] & 255) << 16;
  m[12] = t->filterMode, m[13] = t->normalizedCoords != 0, m[14] = t->readMode == cudaReadModeNormalizedFloat && d.f != cudaChannelFormatKindFloat && d.x < 32;
  for (int c = 0; c < 4; c++) {
    uint32_t bits;
    memcpy(&bits, &t->borderColor[c], sizeof bits);
    m[15 + c] = bits;
  }
  e = wb_ask();
  if (!e) *object = wb_answer[WB_ANSWER_VALUES];
  wb_unlock();
  return wb_result(e);
}
static cudaError_t destroy(unsigned long long object, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e || !object) return wb_result(e);
  wb_lock();
  wb_message(WB_OP_DESTROY, here, 1, 0)[0] = object;
  e = wb_ask();
  wb_unlock();
  return e == cudaErrorInvalidValue ? wb_fail(e, here, 0, "%#llx is no texture or surface object: it was destroyed before, or never created", object) : wb_result(e);
}
API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource, const struct cudaTextureDesc *read, const struct cudaResourceViewDesc *view) {
  if (!read) return wb_fail(cudaErrorInvalidValue, HERE, 0, "the description of the texture is null");
  if (view) return wb_fail(cudaErrorNotSupported, HERE, 0, "views of resources are not there: give a null pointer");
  return newObject(texture, resource, read, HERE);
}
API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) { return destroy(texture, HERE); }
API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *resource) { return newObject(surface, resource, 0, HERE); }
API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { return destroy(surface, HERE); }
