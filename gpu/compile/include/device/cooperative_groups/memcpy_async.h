// Copies to shared memory by all threads of a group.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group>
__WB void __wb_copy(const Group &g, void *to, const void *from, size_t bytes) {
  char *t = (char *)to;
  const char *f = (const char *)from;
  for (size_t i = g.thread_rank(); i < bytes / 4; i += g.size()) {
#if __CUDA_ARCH__ >= 800
    if (__isShared(to) && __isGlobal(from) && (((size_t)t | (size_t)f) & 3) == 0) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned int)__cvta_generic_to_shared(t + 4 * i)), "l"(f + 4 * i) : "memory");
      continue;
    }
#endif
    for (int b = 0; b < 4; b++) t[4 * i + b] = f[4 * i + b];
  }
  for (size_t i = bytes / 4 * 4 + g.thread_rank(); i < bytes; i += g.size()) t[i] = f[i];
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <class Group, class T>
__WB void memcpy_async(const Group &g, T *to, const T *from, size_t bytes) { __wb_copy(g, to, from, bytes); }
template <class Group, class T>
__WB void memcpy_async(const Group &g, T *to, size_t there, const T *from, size_t here) {
  __wb_copy(g, to, from, (there < here ? there : here) * sizeof(T));
}
template <class Group>
__WB void wait(const Group &g) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  g.sync();
}
template <unsigned int Stages, class Group>
__WB void wait_prior(const Group &g) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Stages) : "memory");
#endif
  g.sync();
}

}  // namespace cooperative_groups
