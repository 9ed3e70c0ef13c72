// Groups of threads: blocks, tiles, coalesced threads, clusters and the grid.
#pragma once
#include "cuda_runtime.h"
#include "warpbook/std.h"

namespace cooperative_groups {

__WB unsigned int __wb_lane() { return __nvvm_read_ptx_sreg_laneid(); }
__WB unsigned int __wb_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
__WB unsigned int __wb_size() { return blockDim.x * blockDim.y * blockDim.z; }

template <unsigned int Size, class Parent = void>
class thread_block_tile;
class coalesced_group;

// Some lanes of a warp, or the threads of a block.
class thread_group {
 protected:
  unsigned int mask_; // 0 for a block
  unsigned int size_, rank_;
  __WB_MEMBER thread_group(unsigned int mask, unsigned int size, unsigned int rank) : mask_(mask), size_(size), rank_(rank) {}
  friend __device__ thread_group tiled_partition(const thread_group &, unsigned int);
  template <unsigned int, class> friend class thread_block_tile;
  friend class coalesced_group;

 public:
  __WB_MEMBER unsigned long long size() const { return size_; }
  __WB_MEMBER unsigned long long num_threads() const { return size_; }
  __WB_MEMBER unsigned long long thread_rank() const { return rank_; }
  __WB_MEMBER bool is_valid() const { return true; }
  __WB_MEMBER void sync() const {
    if (mask_ == 0) __syncthreads(); else __syncwarp(mask_);
  }
};

class thread_block : public thread_group {
  __WB_MEMBER thread_block() : thread_group(0, __wb_size(), __wb_rank()) {}
  friend __device__ thread_block this_thread_block();

 public:
  struct arrival_token {};
  __WB_MEMBER static void sync() { __syncthreads(); }
  __WB_MEMBER static unsigned int thread_rank() { return __wb_rank(); }
  __WB_MEMBER static unsigned int size() { return __wb_size(); }
  __WB_MEMBER static unsigned int num_threads() { return __wb_size(); }
  __WB_MEMBER static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  __WB_MEMBER static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  __WB_MEMBER static dim3 group_dim() { return {blockDim.x, blockDim.y, blockDim.z}; }
  __WB_MEMBER static dim3 dim_threads() { return {blockDim.x, blockDim.y, blockDim.z}; }
  __WB_MEMBER static arrival_token barrier_arrive() { return {}; }
  __WB_MEMBER static void barrier_wait(arrival_token &&) { __syncthreads(); }
};
__device__ __attribute__((always_inline, nodebug)) inline thread_block this_thread_block() { return thread_block(); }

// Functions of a group of lanes, for a class with mask(), size() and thread_rank() whose
// lanes follow each other in the mask.
#define __WB_LANES                                                                          \
  __WB_MEMBER void sync() const { __syncwarp(__mask()); }                                   \
  __WB_MEMBER int any(int p) const { return __any_sync(__mask(), p); }                      \
  __WB_MEMBER int all(int p) const { return __all_sync(__mask(), p); }

template <unsigned int Size>
class thread_block_tile<Size, void> {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  __WB_MEMBER static unsigned int __mask() { return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << (__wb_lane() & ~(Size - 1)); }
  __WB_MEMBER operator thread_group() const { return thread_group(__mask(), Size, thread_rank()); }
  __WB_MEMBER static constexpr unsigned int size() { return Size; }
  __WB_MEMBER static constexpr unsigned int num_threads() { return Size; }
  __WB_MEMBER static unsigned int thread_rank() { return __wb_lane() & (Size - 1); }
  __WB_MEMBER static unsigned int meta_group_size() { return (__wb_size() + Size - 1) / Size; }
  __WB_MEMBER static unsigned int meta_group_rank() { return __wb_rank() / Size; }
  __WB_LANES
  __WB_MEMBER unsigned int ballot(int p) const { return (__ballot_sync(__mask(), p) & __mask()) >> (__wb_lane() & ~(Size - 1)); }
  template <class T> __WB_MEMBER T shfl(T v, int lane) const { return __shfl_sync(__mask(), v, lane, Size); }
  template <class T> __WB_MEMBER T shfl_up(T v, unsigned int d) const { return __shfl_up_sync(__mask(), v, d, Size); }
  template <class T> __WB_MEMBER T shfl_down(T v, unsigned int d) const { return __shfl_down_sync(__mask(), v, d, Size); }
  template <class T> __WB_MEMBER T shfl_xor(T v, unsigned int d) const { return __shfl_xor_sync(__mask(), v, d, Size); }
  template <class T> __WB_MEMBER unsigned int match_any(T v) const { return (__match_any_sync(__mask(), v) & __mask()) >> (__wb_lane() & ~(Size - 1)); }
  template <class T> __WB_MEMBER unsigned int match_all(T v, int &p) const { return (__match_all_sync(__mask(), v, &p) & __mask()) >> (__wb_lane() & ~(Size - 1)); }
};
template <unsigned int Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
 public:
  thread_block_tile() = default;
  __WB_MEMBER thread_block_tile(const thread_block_tile<Size, void> &) {}
};

class coalesced_group {
  unsigned int mask_, size_, rank_, of_ = 1, index_ = 0;

 public:
  __WB_MEMBER explicit coalesced_group(unsigned int mask, unsigned int of = 1, unsigned int index = 0)
      : mask_(mask), size_(__popc(mask)), rank_(__popc(mask & __nvvm_read_ptx_sreg_lanemask_lt())), of_(of), index_(index) {}
  __WB_MEMBER operator thread_group() const { return thread_group(mask_, size_, rank_); }
  __WB_MEMBER unsigned int __mask() const { return mask_; }
  __WB_MEMBER unsigned int size() const { return size_; }
  __WB_MEMBER unsigned int num_threads() const { return size_; }
  __WB_MEMBER unsigned int thread_rank() const { return rank_; }
  __WB_MEMBER unsigned int meta_group_size() const { return of_; }
  __WB_MEMBER unsigned int meta_group_rank() const { return index_; }
  __WB_LANES
  // The lane of a rank, and bits of lanes as bits of ranks.
  __WB_MEMBER unsigned int __lane(unsigned int rank) const { return size_ == 32 ? rank : __fns(mask_, 0, rank + 1); }
  __WB_MEMBER unsigned int __pack(unsigned int lanes) const {
    if (size_ == 32) return lanes;
    unsigned int packed = 0, bit = 1;
    for (unsigned int rest = mask_; rest; rest &= rest - 1, bit <<= 1) {
      if (lanes & rest & (0 - rest)) packed |= bit;
    }
    return packed;
  }
  __WB_MEMBER unsigned int ballot(int p) const { return __pack(__ballot_sync(mask_, p)); }
  template <class T> __WB_MEMBER T shfl(T v, int rank) const { return __shfl_sync(mask_, v, (int)__lane(rank)); }
  template <class T> __WB_MEMBER T shfl_up(T v, unsigned int d) const { return __shfl_sync(mask_, v, (int)(rank_ >= d ? __lane(rank_ - d) : __wb_lane())); }
  template <class T> __WB_MEMBER T shfl_down(T v, unsigned int d) const { return __shfl_sync(mask_, v, (int)(rank_ + d < size_ ? __lane(rank_ + d) : __wb_lane())); }
  template <class T> __WB_MEMBER unsigned int match_any(T v) const { return __pack(__match_any_sync(mask_, v)); }
  template <class T> __WB_MEMBER unsigned int match_all(T v, int &p) const { return __pack(__match_all_sync(mask_, v, &p)); }
};
#undef __WB_LANES
__WB coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int Size, class Parent>
__WB thread_block_tile<Size, Parent> tiled_partition(const Parent &) { return {}; }
template <unsigned int Size, unsigned int Of, class Outer>
__WB thread_block_tile<Size, thread_block_tile<Of, Outer>> tiled_partition(const thread_block_tile<Of, Outer> &) {
  static_assert(Size <= Of, "a part of a tile has at most as many threads as the tile");
  return {};
}
__device__ __attribute__((always_inline, nodebug)) inline thread_group tiled_partition(const thread_group &g, unsigned int size) {
  unsigned int rank = (unsigned int)g.thread_rank(), first = rank & ~(size - 1);
  if (g.mask_ == 0) {
    unsigned int lanes = size >= 32 ? 0xffffffffu : ((1u << size) - 1) << (__wb_lane() & ~(size - 1));
    return thread_group(lanes, size, rank & (size - 1));
  }
  unsigned int lanes = 0, n = 0;
  for (unsigned int rest = g.mask_, at = 0; rest; rest &= rest - 1, at++) {
    if (at >= first && at < first + size) lanes |= rest & (0 - rest), n++;
  }
  return thread_group(lanes, n, rank & (size - 1));
}
__WB coalesced_group tiled_partition(const coalesced_group &g, unsigned int size) {
  unsigned int first = g.thread_rank() & ~(size - 1), lanes = 0, at = 0;
  for (unsigned int rest = g.__mask(); rest; rest &= rest - 1, at++) {
    if (at >= first && at < first + size) lanes |= rest & (0 - rest);
  }
  return coalesced_group(lanes, (g.size() + size - 1) / size, first / size);
}
template <class Group, class Label>
__WB coalesced_group labeled_partition(const Group &g, Label label) { return coalesced_group(__match_any_sync(g.__mask(), label)); }
template <class Group>
__WB coalesced_group binary_partition(const Group &g, bool p) {
  unsigned int yes = __ballot_sync(g.__mask(), p) & g.__mask();
  return coalesced_group(p ? yes : g.__mask() & ~yes);
}

// The grid's barrier lies in memory of the driver, whose address special registers hold.
// Each block adds 1, the first one as much as makes the sum 2^31: the top bit turns over
// when all have arrived.
class grid_group {
  friend __device__ grid_group this_grid();
  __WB_MEMBER grid_group() {}
  __WB_MEMBER static unsigned int *__barrier() {
    unsigned int lo, hi;
    asm("mov.u32 %0, %%envreg2;" : "=r"(lo));
    asm("mov.u32 %0, %%envreg1;" : "=r"(hi));
    return (unsigned int *)((unsigned long long)hi << 32 | lo) + 1;
  }

 public:
  struct arrival_token { unsigned int old; };
  __WB_MEMBER bool is_valid() const { return (unsigned long long)__barrier() != 4; }
  __WB_MEMBER static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  __WB_MEMBER static unsigned long long block_rank() { return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  __WB_MEMBER static unsigned long long size() { return num_blocks() * __wb_size(); }
  __WB_MEMBER static unsigned long long num_threads() { return size(); }
  __WB_MEMBER static unsigned long long thread_rank() { return block_rank() * __wb_size() + __wb_rank(); }
  __WB_MEMBER static dim3 group_dim() { return {gridDim.x, gridDim.y, gridDim.z}; }
  __WB_MEMBER static dim3 dim_blocks() { return {gridDim.x, gridDim.y, gridDim.z}; }
  __WB_MEMBER static dim3 block_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  __WB_MEMBER arrival_token barrier_arrive() const {
    unsigned int old = 0;
    if (!is_valid()) __trap();
    __syncthreads();
    if (__wb_rank() == 0) {
      unsigned int blocks = (unsigned int)num_blocks();
      __threadfence();
      old = atomicAdd(__barrier(), block_rank() == 0 ? 0x80000000u - (blocks - 1) : 1u);
    }
    return {old};
  }
  __WB_MEMBER void barrier_wait(arrival_token &&token) const {
    if (__wb_rank() == 0) {
      unsigned int now;
      do {
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(__barrier()) : "memory");
      } while (((now ^ token.old) & 0x80000000u) == 0);
    }
    __syncthreads();
  }
  __WB_MEMBER void sync() const { barrier_wait(barrier_arrive()); }
};
__device__ __attribute__((always_inline, nodebug)) inline grid_group this_grid() { return grid_group(); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 // a host sees it, too
class cluster_group {
  friend __device__ cluster_group this_cluster();
  __WB_MEMBER cluster_group() {}

 public:
  struct arrival_token {};
  __WB_MEMBER static void sync() { barrier_arrive(); barrier_wait({}); }
  __WB_MEMBER static arrival_token barrier_arrive() { __nvvm_barrier_cluster_arrive(); return {}; }
  __WB_MEMBER static void barrier_wait(arrival_token &&) { __nvvm_barrier_cluster_wait(); }
  __WB_MEMBER static unsigned int num_blocks() { return __nvvm_read_ptx_sreg_cluster_nctarank(); }
  __WB_MEMBER static unsigned int block_rank() { return __nvvm_read_ptx_sreg_cluster_ctarank(); }
  __WB_MEMBER static unsigned int num_threads() { return num_blocks() * __wb_size(); }
  __WB_MEMBER static unsigned int size() { return num_threads(); }
  __WB_MEMBER static unsigned int thread_rank() { return block_rank() * __wb_size() + __wb_rank(); }
  __WB_MEMBER static dim3 dim_blocks() {
    return {(unsigned)__nvvm_read_ptx_sreg_cluster_nctaid_x(), (unsigned)__nvvm_read_ptx_sreg_cluster_nctaid_y(), (unsigned)__nvvm_read_ptx_sreg_cluster_nctaid_z()};
  }
  __WB_MEMBER static dim3 block_index() {
    return {(unsigned)__nvvm_read_ptx_sreg_cluster_ctaid_x(), (unsigned)__nvvm_read_ptx_sreg_cluster_ctaid_y(), (unsigned)__nvvm_read_ptx_sreg_cluster_ctaid_z()};
  }
  template <class T> __WB_MEMBER static T *map_shared_rank(T *p, int rank) { return (T *)__nvvm_mapa((void *)p, rank); }
  __WB_MEMBER static unsigned int query_shared_rank(const void *p) { return __nvvm_getctarank((void *)p); }
};
__device__ __attribute__((always_inline, nodebug)) inline cluster_group this_cluster() { return cluster_group(); }
#endif

template <class Group> __WB void sync(const Group &g) { g.sync(); }
template <class Group> __WB unsigned int thread_rank(const Group &g) { return g.thread_rank(); }
template <class Group> __WB unsigned int group_size(const Group &g) { return g.size(); }

}  // namespace cooperative_groups
