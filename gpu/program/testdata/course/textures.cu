// Textures of arrays, of linear memory and of memory with a pitch, in one to three directions.
#include <cstdio>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    cudaError_t e = (call);                                                             \
    if (e != cudaSuccess) return printf("%s: %s\n", #call, cudaGetErrorString(e)), 1;   \
  } while (0)

__global__ void rotate(float *out, int w, int h, float angle, cudaTextureObject_t image) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float u = x - w / 2.0f, v = y - h / 2.0f;
  float s = u * cosf(angle) - v * sinf(angle), t = v * cosf(angle) + u * sinf(angle);
  out[y * w + x] = tex2D<float>(image, s / w + 0.5f, t / h + 0.5f);
}
__global__ void shift(float *out, int w, int h, cudaTextureObject_t image) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < w && y < h) out[y * w + x] = tex2D<float>(image, x - 1, y - 1);
}
__global__ void twice(float *out, int n, cudaTextureObject_t numbers) {
  int i = threadIdx.x;
  if (i < n) out[i] = 2 * tex1Dfetch<float>(numbers, i);
}
__global__ void outside(int *out, cudaTextureObject_t t) { out[threadIdx.x] = tex2D<int>(t, threadIdx.x - 0.5f, 0.5f); }
__global__ void grey(float *out, int n, cudaTextureObject_t pixels) {
  int i = threadIdx.x;
  if (i >= n) return;
  float4 p = tex1D<float4>(pixels, i + 0.5f);
  out[i] = (p.x + p.y + p.z) / 3;
}
__global__ void middle(float *out, int n, cudaTextureObject_t volume, cudaTextureObject_t layers) {
  int i = threadIdx.x;
  if (i >= n) return;
  out[i] = tex3D<float>(volume, i + 0.5f, 1.5f, 2.0f);
  int2 pair;
  tex2DLayered(&pair, layers, i + 0.5f, 0.5f, 1);
  out[n + i] = pair.x + 1000 * pair.y;
}

int main() {
  const int w = 32, h = 16;
  std::vector<float> host(w * h), back(w * h);
  for (int i = 0; i < w * h; i++) host[i] = i % w;
  float *out;
  CHECK(cudaMalloc(&out, w * h * sizeof(float)));

  cudaChannelFormatDesc channel = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray *array;
  CHECK(cudaMallocArray(&array, &channel, w, h));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, host.data(), w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice));
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how;
  memset(&how, 0, sizeof how);
  how.addressMode[0] = cudaAddressModeWrap;
  how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.normalizedCoords = 1;
  cudaTextureObject_t image = 0;
  CHECK(cudaCreateTextureObject(&image, &resource, &how, NULL));
  rotate<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(out, w, h, 0, image);
  CHECK(cudaMemcpy(back.data(), out, w * h * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%g %g %g\n", back[0], back[1], back[w - 1]); // between the elements, round the edge
  CHECK(cudaDestroyTextureObject(image));
  CHECK(cudaFreeArray(array));

  float *rows;
  size_t pitch;
  CHECK(cudaMallocPitch(&rows, &pitch, 5 * sizeof(float), 3));
  CHECK(cudaMemcpy2D(rows, pitch, host.data(), w * sizeof(float), 5 * sizeof(float), 3, cudaMemcpyHostToDevice));
  cudaResourceDesc pitched = {};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D.devPtr = rows;
  pitched.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  pitched.res.pitch2D.width = 5;
  pitched.res.pitch2D.height = 3;
  pitched.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc border = {};
  border.addressMode[0] = border.addressMode[1] = cudaAddressModeBorder;
  border.borderColor[0] = -7;
  CHECK(cudaCreateTextureObject(&image, &pitched, &border, nullptr));
  shift<<<1, dim3(8, 8)>>>(out, 6, 4, image);
  CHECK(cudaMemcpy(back.data(), out, 24 * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%g %g %g %g\n", back[0], back[6], back[7], back[23]);
  CHECK(cudaDestroyTextureObject(image));
  CHECK(cudaFree(rows));

  const int table[3] = {100000001, 2, 3}, edge = -5; // the bits of a border's float are the integer
  int read[3];
  cudaArray_t integers;
  cudaChannelFormatDesc whole = cudaCreateChannelDesc<int>();
  CHECK(cudaMallocArray(&integers, &whole, 3, 1));
  CHECK(cudaMemcpy2DToArray(integers, 0, 0, table, sizeof table, sizeof table, 1, cudaMemcpyHostToDevice));
  resource.res.array.array = integers;
  memcpy(&border.borderColor[0], &edge, sizeof edge);
  CHECK(cudaCreateTextureObject(&image, &resource, &border, nullptr));
  outside<<<1, 3>>>((int *)out, image);
  CHECK(cudaMemcpy(read, out, sizeof read, cudaMemcpyDeviceToHost));
  printf("%d %d %d\n", read[0], read[1], read[2]);
  CHECK(cudaDestroyTextureObject(image));
  CHECK(cudaFreeArray(integers));

  float *numbers;
  CHECK(cudaMalloc(&numbers, 20 * sizeof(float)));
  CHECK(cudaMemcpy(numbers, host.data(), 20 * sizeof(float), cudaMemcpyHostToDevice));
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = numbers;
  linear.res.linear.desc = channel;
  linear.res.linear.sizeInBytes = 20 * sizeof(float);
  cudaTextureDesc plain = {};
  CHECK(cudaCreateTextureObject(&image, &linear, &plain, nullptr));
  twice<<<1, 32>>>(out, 32, image);
  CHECK(cudaMemcpy(back.data(), out, 32 * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%g %g %g\n", back[3], back[19], back[20]);
  CHECK(cudaDestroyTextureObject(image));
  CHECK(cudaFree(numbers));

  const uchar4 colours[2] = {{255, 0, 0, 255}, {51, 102, 153, 255}};
  channel = cudaCreateChannelDesc<uchar4>();
  CHECK(cudaMallocArray(&array, &channel, 2));
  CHECK(cudaMemcpyToArray(array, 0, 0, colours, sizeof colours, cudaMemcpyHostToDevice));
  resource.res.array.array = array;
  plain.readMode = cudaReadModeNormalizedFloat;
  CHECK(cudaCreateTextureObject(&image, &resource, &plain, nullptr));
  grey<<<1, 2>>>(out, 2, image);
  CHECK(cudaMemcpy(back.data(), out, 2 * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%.3f %.3f\n", back[0], back[1]);
  CHECK(cudaDestroyTextureObject(image));
  CHECK(cudaFreeArray(array));

  cudaArray_t volume, layered;
  channel = cudaCreateChannelDesc<float>();
  CHECK(cudaMalloc3DArray(&volume, &channel, make_cudaExtent(4, 3, 3)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host.data(), 4 * sizeof(float), 4, 3);
  copy.dstArray = volume;
  copy.extent = make_cudaExtent(4, 3, 3);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  channel = cudaCreateChannelDesc<int2>();
  CHECK(cudaMalloc3DArray(&layered, &channel, make_cudaExtent(4, 1, 2), cudaArrayLayered));
  int2 pairs[2][1][4];
  for (int i = 0; i < 8; i++) pairs[i / 4][0][i % 4] = make_int2(i, -i);
  copy.srcPtr = make_cudaPitchedPtr(pairs, 4 * sizeof(int2), 4, 1);
  copy.dstArray = layered;
  copy.extent = make_cudaExtent(4, 1, 2);
  CHECK(cudaMemcpy3D(&copy));
  cudaTextureObject_t second;
  how.normalizedCoords = 0;
  plain.readMode = cudaReadModeElementType;
  resource.res.array.array = volume;
  CHECK(cudaCreateTextureObject(&image, &resource, &how, nullptr));
  resource.res.array.array = layered;
  CHECK(cudaCreateTextureObject(&second, &resource, &plain, nullptr));
  middle<<<1, 4>>>(out, 4, image, second);
  CHECK(cudaMemcpy(back.data(), out, 8 * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%g %g %g\n", back[0], back[3], back[5]);
  CHECK(cudaDestroyTextureObject(image));
  CHECK(cudaDestroyTextureObject(second));
  CHECK(cudaFreeArray(volume));
  CHECK(cudaFreeArray(layered));
  CHECK(cudaFree(out));
}

// status 0
// out: 15.5 0.5 30.5
// out: -7 -7 0 4
// out: -5 100000001 2
// out: 6 38 0
// out: 0.333 0.400
// out: 22 25 -4995
