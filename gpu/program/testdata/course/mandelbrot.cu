// The Mandelbrot set in characters.
#include <cstdio>

__global__ void mandelbrot(char *picture, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float cx = -2.0f + 3.0f * x / w, cy = -1.0f + 2.0f * y / h, zx = 0, zy = 0;
  int i = 0;
  while (i < 64 && zx * zx + zy * zy < 4.0f) {
    float t = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy;
    zx = t;
    i++;
  }
  picture[y * w + x] = i == 64 ? '#' : i > 5 ? '+' : '.';
}

int main() {
  const int w = 32, h = 12;
  char *picture;
  cudaMallocManaged(&picture, w * h);
  mandelbrot<<<dim3(2, 2), dim3(16, 8)>>>(picture, w, h);
  cudaDeviceSynchronize();
  for (int y = 0; y < h; y++) printf("%.*s\n", w, picture + y * w);
  cudaFree(picture);
}

// status 0
// out: ...................+++..........
// out: .................+++#++.........
// out: ..............++++++#+++++......
// out: .............+++#########++.....
// out: .......++++++++###########+.....
// out: ......+++####+############+.....
// out: .########################++.....
// out: ......+++####+############+.....
// out: .......++++++++###########+.....
// out: .............+++#########++.....
// out: ..............++++++#+++++......
// out: .................+++#++.........
