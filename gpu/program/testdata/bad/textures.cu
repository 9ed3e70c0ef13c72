#include <cstdio>
__global__ void read(cudaTextureObject_t t, float *out) { out[0] = tex2D<float>(t, 1, 1); }
__global__ void write(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, threadIdx.x, 0); }
int main() {
  cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>(), three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t a, none;
  printf("%s\n", cudaGetErrorString(cudaMallocArray(&none, &three, 4, 4)));
  cudaMallocArray(&a, &floats, 8, 8, cudaArraySurfaceLoadStore);
  float host[4] = {};
  cudaMemcpy2DToArray(a, 24, 0, host, 16, 16, 1, cudaMemcpyHostToDevice);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, 16, 4, 1);
  copy.dstArray = a;
  copy.dstPos = make_cudaPos(6, 0, 0);
  copy.extent = make_cudaExtent(4, 1, 1);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  copy.dstPos = make_cudaPos(0, 8, 0);
  cudaMemcpy3D(&copy);
  copy.dstPtr = copy.srcPtr;
  copy.srcArray = a;
  copy.dstArray = nullptr;
  copy.dstPos = copy.srcPos = make_cudaPos(0, 0, 0);
  copy.extent = make_cudaExtent(4, 1, 2);
  copy.kind = cudaMemcpyDeviceToHost;
  cudaMemcpy3D(&copy);
  cudaResourceDesc r = {};
  r.res.array.array = a;
  cudaTextureDesc d = {};
  d.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t t;
  cudaSurfaceObject_t s;
  cudaCreateTextureObject(&t, &r, &d, nullptr);
  cudaCreateSurfaceObject(&s, &r);
  cudaDestroyTextureObject(12);
  cudaGetLastError();
  float *out;
  cudaMalloc(&out, 4);
  write<<<1, 2>>>(s);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

// status 0
// out: invalid channel descriptor
// out: misaligned address
// err: textures.cu:7: error 20: channels of 8, 8, 8 and 0 bits, expected 1, 2 or 4 of 8, 16 or 32
// err: textures.cu:10: error 1: 16 bytes from byte 24 of 1 rows, the first of which is row 0, and the array has 8 rows of 32 bytes: places and widths are in bytes
// err: textures.cu:17: error 1: 4 elements of a row from number 6, and the array of the destination has 8: with an array the width counts elements
// err: textures.cu:19: error 1: 1 rows from number 8, and the array of the destination has 8: .*
// err: textures.cu:26: error 1: 2 slices from number 0, and the array of the source has 1: .*
// err: textures.cu:35: error 1: 0xc is no texture or surface object: it was destroyed before, or never created
// err: write: sust.b.2d.b32.trap at textures.cu:3 .*: misaligned address: 4 bytes of a surface at byte 1 of a row, expected a multiple of 4: the first coordinate counts bytes, block \(0,0,0\) thread \(1,0,0\): .*; launched at textures.cu:39
// err: advice: 256 bytes of 1 calls were never freed, allocated at textures.cu:8
// err: advice: 4 bytes of 1 calls were never freed, allocated at textures.cu:38
