#include <unistd.h>
__global__ void k() {}
int main() { for (int i = 0; i < 100; i++) k<<<1,1>>>(); _exit(4); }

// status 4
