// Structs with padding that are copied whole: by value to functions, through local, shared and
// global memory. A member that is never written and then used is a defect.
struct Cell { char c; int i; };
struct Both { float x; double y; };
struct Tail { double y; char c; };
struct alignas(16) Point { float x, y, z; };
struct Many { char c; double d; short s; int i; char e; };
struct Nest { Cell a; Both b; char c; };

#define FUNCTION __noinline__ __device__
#define KERNEL extern "C" __global__ void
#define T threadIdx.x

FUNCTION int sum(Cell s) { return s.c + s.i; } // defect
FUNCTION int sum(Both s) { return (int)(s.x + s.y); }
FUNCTION int sum(Tail s) { return (int)(s.y + s.c); }
FUNCTION int sum(Point s) { return (int)(s.x + s.y + s.z); } // defect
FUNCTION int sum(Many s) { return (int)(s.c + s.d + s.s + s.i + s.e); } // defect
FUNCTION int sum(Nest s) { return (int)(s.a.c + s.a.i + s.b.x + s.b.y + s.c); }
FUNCTION Cell cell(int v) { Cell s; s.c = v; s.i = v; return s; }
FUNCTION Both both(int v) { Both s; s.x = v; s.y = v; return s; }
FUNCTION Tail tail(int v) { Tail s; s.y = v; s.c = v; return s; }
FUNCTION Point point(int v) { Point s; s.x = v; s.y = v; s.z = v; return s; }
FUNCTION Many many(int v) { Many s; s.c = v; s.d = v; s.s = v; s.i = v; s.e = v; return s; }
FUNCTION Nest nest(int v) { Nest s; s.a.c = v; s.a.i = v; s.b.x = v; s.b.y = v; s.c = v; return s; }
FUNCTION void fill(Many *to, int v) { Many s = many(v); *to = s; }
FUNCTION Many pick(bool first, Many a, Many b) { return first ? a : b; }

// through<S> copies a struct through shared and global memory, as a whole and member by member.
template <class S> __device__ int through(S *g, S s) {
  __shared__ S a[64];
  a[T] = s;
  __syncthreads();
  S t = a[T ^ 1];
  g[T] = t;
  S u = g[T];
  __syncthreads();
  a[T] = u;
  return sum(a[T]);
}

KERNEL ok_cell(int *y, char *g) { y[T] = sum(cell(T)) + through((Cell *)g, cell(T)); }
KERNEL ok_both(int *y, char *g) { y[T] = sum(both(T)) + through((Both *)g, both(T)); }
KERNEL ok_tail(int *y, char *g) { y[T] = sum(tail(T)) + through((Tail *)g, tail(T)); }
KERNEL ok_point(int *y, char *g) { y[T] = sum(point(T)) + through((Point *)g, point(T)); }
KERNEL ok_many(int *y, char *g) { y[T] = sum(many(T)) + through((Many *)g, many(T)); }
KERNEL ok_nest(int *y, char *g) { y[T] = sum(nest(T)) + through((Nest *)g, nest(T)); }
KERNEL ok_pick(int *y, char *g) {
  Many b[4];
  for (int i = 0; i < 4; i++) fill(b + i, T + i);
  y[T] = sum(pick(T & 1, b[T & 3], many(T)));
}
KERNEL ok_members(int *y, char *g) {
  __shared__ Cell a[64];
  Both *b = (Both *)g;
  a[T].c = T, a[T].i = 2, b[T].x = T, b[T].y = 2;
  __syncthreads();
  Cell s = a[T ^ 1];
  Both t = b[T ^ 1];
  y[T] = sum(s) + sum(t);
}
KERNEL ok_sort(int *y, char *g) {
  __shared__ Many a[64];
  fill(a + T, 64 - T);
  __syncthreads();
  for (int k = 0; k < 64; k++) {
    int i = 2 * T + (k & 1);
    if (i + 1 < 64 && a[i].i > a[i + 1].i) {
      Many t = a[i];
      a[i] = a[i + 1];
      a[i + 1] = t;
    }
    __syncthreads();
  }
  y[T] = a[T].i;
}

KERNEL bad_argument(int *y, char *g) {
  Cell s;
  s.c = T;
  y[T] = sum(s); // defect
}
KERNEL bad_shared(int *y, char *g) {
  __shared__ Cell a[64];
  a[T].c = T;
  __syncthreads();
  Cell s = a[T ^ 1]; // defect
  y[T] = sum(s); // defect
}
KERNEL bad_global(int *y, char *g) {
  Cell *a = (Cell *)g;
  a[T].c = T;
  __syncthreads();
  Cell s = a[T ^ 1]; // defect
  y[T] = sum(s); // defect
}
KERNEL bad_point(int *y, char *g) {
  __shared__ Point a[64];
  a[T].x = 1, a[T].y = 2;
  __syncthreads();
  Point s = a[T ^ 1]; // defect
  y[T] = sum(s); // defect
}
KERNEL bad_copied(int *y, char *g) {
  __shared__ Point a[64];
  a[T].x = 1, a[T].y = 2;
  __syncthreads();
  Point s = a[T ^ 1]; // defect
  y[T] = __float_as_int(s.z); // defect
}
KERNEL bad_short(int *y, char *g) {
  __shared__ Many a[64];
  a[T].c = 1, a[T].d = 1, a[T].i = 1, a[T].e = 1;
  __syncthreads();
  Many s = a[T ^ 1]; // defect
  y[T] = s.s; // defect
}
KERNEL bad_many(int *y, char *g) {
  __shared__ Many a[64];
  a[T].c = 1, a[T].d = 1, a[T].i = 1, a[T].e = 1;
  __syncthreads();
  Many s = a[T ^ 1]; // defect
  y[T] = sum(s); // defect
}
