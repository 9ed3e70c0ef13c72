// Functions of the device that call themselves, each other, and through pointers.
#include <cstdio>

struct Node {
  int key;
  Node *left, *right;
};

__device__ void insert(Node *&at, int key) {
  if (!at) {
    at = new Node{key, nullptr, nullptr};
    return;
  }
  insert(key < at->key ? at->left : at->right, key);
}

__device__ int sum(const Node *n, int depth, int *deepest) {
  if (!n) return 0;
  int below = depth; // whose address the calls get
  int left = sum(n->left, depth + 1, &below), right = sum(n->right, depth + 1, &below);
  if (below > *deepest) *deepest = below;
  return left + right + n->key;
}

__device__ void drop(Node *n) {
  if (!n) return;
  drop(n->left);
  drop(n->right);
  delete n;
}

__global__ void trees(int *out) {
  Node *root = nullptr;
  for (int i = 0; i < 20; i++) insert(root, (i * 37 + threadIdx.x * 11) % 101);
  int deepest = 0;
  out[2 * threadIdx.x] = sum(root, 0, &deepest);
  out[2 * threadIdx.x + 1] = deepest;
  drop(root);
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ void quicksort(int *a, int low, int high) {
  if (low >= high) return;
  int pivot = a[high], place = low;
  for (int i = low; i < high; i++)
    if (a[i] < pivot) {
      int t = a[i];
      a[i] = a[place];
      a[place++] = t;
    }
  a[high] = a[place];
  a[place] = pivot;
  quicksort(a, low, place - 1);
  quicksort(a, place + 1, high);
}

__global__ void numbers(int *fib, int *rows) {
  fib[threadIdx.x] = fibonacci(threadIdx.x);
  quicksort(rows + 8 * threadIdx.x, 0, 7);
}

__device__ bool odd(int n, int *steps);
__device__ __noinline__ bool even(int n, int *steps) {
  int here[2] = {n, *steps};
  ++*steps;
  return n == 0 || (odd(n - 1, steps) && here[1] + here[0] == *steps - 1);
}
__device__ __noinline__ bool odd(int n, int *steps) {
  ++*steps;
  return n != 0 && even(n - 1, steps);
}

__device__ void hanoi(int n, int from, int to, int *moves) {
  if (n == 0) return;
  hanoi(n - 1, from, 6 - from - to, moves);
  printf("disc %d: %d to %d\n", n, from, to);
  ++*moves;
  hanoi(n - 1, 6 - from - to, to, moves);
}

__global__ void turns(int *out) {
  int steps = 0, moves = 0;
  out[0] = even(10, &steps);
  hanoi(2, 1, 3, &moves);
  out[1] = steps;
  out[2] = moves;
}

typedef int (*step)(int, void *);
__device__ int down(int n, void *next) { return n <= 0 ? 0 : n + ((step)next)(n - 2, next); }
__device__ step first = down;
__global__ void pointers(int *out) { out[threadIdx.x] = first(threadIdx.x, (void *)first); }

void print(const int *x, int n) {
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) printf("%d%c", x[i], i < n - 1 ? ' ' : '\n');
}

int main() {
  int *out, *rows;
  cudaDeviceSetLimit(cudaLimitStackSize, 8192);
  cudaMallocManaged(&out, 64 * sizeof(int)), cudaMallocManaged(&rows, 32 * 8 * sizeof(int));
  trees<<<1, 4>>>(out);
  print(out, 8);
  for (int i = 0; i < 32 * 8; i++) rows[i] = i * 7919 % 1000;
  numbers<<<1, 16>>>(out, rows);
  print(out, 16);
  print(rows + 8 * 15, 8);
  turns<<<1, 1>>>(out);
  print(out, 3);
  pointers<<<1, 8>>>(out);
  print(out, 8);
  cudaFree(out), cudaFree(rows);
}

// status 0
// out: 970 6 988 6 1006 6 1024 5
// out: 0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610
// out: 37 118 199 280 713 794 875 956
// out: disc 1: 1 to 2
// out: disc 2: 1 to 3
// out: disc 1: 2 to 3
// out: 1 11 3
// out: 0 1 2 4 6 9 12 16
