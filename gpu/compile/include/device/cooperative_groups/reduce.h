// Reductions of a tile or of coalesced threads.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

#define __WB_OPERATION(name, expression)                                                    \
  template <class T = void> struct name {                                                   \
    __WB_MEMBER constexpr T operator()(T a, T b) const { return expression; }               \
  };                                                                                        \
  template <> struct name<void> {                                                           \
    template <class T> __WB_MEMBER constexpr T operator()(T a, T b) const { return expression; } \
  };
__WB_OPERATION(plus, a + b)
__WB_OPERATION(less, b < a ? b : a)
__WB_OPERATION(greater, a < b ? b : a)
__WB_OPERATION(bit_and, a &b)
__WB_OPERATION(bit_or, a | b)
__WB_OPERATION(bit_xor, a ^ b)
#undef __WB_OPERATION

template <unsigned int Size, class Parent, class T, class Op>
__WB T reduce(const thread_block_tile<Size, Parent> &g, T v, Op op) {
  for (unsigned int d = Size / 2; d > 0; d /= 2) v = op(v, g.shfl_xor(v, d));
  return v;
}
template <class T, class Op>
__WB T reduce(const coalesced_group &g, T v, Op op) {
  unsigned int size = g.size(), rank = g.thread_rank();
  for (unsigned int d = 1; d < size; d *= 2) {
    T other = g.shfl_down(v, d);
    if (rank % (2 * d) == 0 && rank + d < size) v = op(v, other);
  }
  return g.shfl(v, 0);
}

}  // namespace cooperative_groups
