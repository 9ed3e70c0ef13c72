// Classes whose new allocates managed memory.
#include <cstdio>
#include <cstring>

class Managed {
 public:
  void *operator new(size_t n) {
    void *p;
    cudaMallocManaged(&p, n);
    cudaDeviceSynchronize();
    return p;
  }
  void operator delete(void *p) {
    cudaDeviceSynchronize();
    cudaFree(p);
  }
};

class String : public Managed {
  int length_;
  char *data_;

 public:
  String(const char *s) : length_((int)strlen(s)) {
    cudaMallocManaged(&data_, length_ + 1);
    memcpy(data_, s, length_ + 1);
  }
  ~String() { cudaFree(data_); }
  __host__ __device__ char &operator[](int i) { return data_[i]; }
  __host__ __device__ int length() const { return length_; }
  const char *c_str() const { return data_; }
};

struct Element : public Managed {
  String name;
  int value;
  Element() : name("hello"), value(10) {}
};

__global__ void change(Element *e) {
  e->name[0] = 'j';
  e->value += e->name.length();
}

int main() {
  Element *e = new Element;
  change<<<1, 1>>>(e);
  cudaDeviceSynchronize();
  printf("%s %d\n", e->name.c_str(), e->value);
  delete e;
}

// status 0
// out: jello 15
