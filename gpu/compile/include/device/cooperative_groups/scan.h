// Scans of a tile or of coalesced threads.
#pragma once
#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
__WB T inclusive_scan(const Group &g, T v, Op op) {
  unsigned int rank = (unsigned int)g.thread_rank(), size = (unsigned int)g.size();
  for (unsigned int d = 1; d < size; d *= 2) {
    T before = g.shfl_up(v, d);
    if (rank >= d) v = op(before, v);
  }
  return v;
}
template <class Group, class T>
__WB T inclusive_scan(const Group &g, T v) { return inclusive_scan(g, v, plus<T>()); }
template <class Group, class T, class Op>
__WB T exclusive_scan(const Group &g, T v, Op op) {
  T before = g.shfl_up(inclusive_scan(g, v, op), 1);
  return g.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
__WB T exclusive_scan(const Group &g, T v) { return exclusive_scan(g, v, plus<T>()); }

}  // namespace cooperative_groups
