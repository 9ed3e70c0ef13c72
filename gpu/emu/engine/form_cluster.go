package engine

import "warpbook/gpu"

// clusterBarrierForm lowers barrier.cluster.
func (lo *lowering) clusterBarrierForm(w words) error {
	if err := lo.target(90); err != nil {
		return err
	}
	w.drop("aligned", "relaxed", "release", "acquire")
	in := &lo.op.in
	switch op := w.take("arrive", "wait"); {
	case len(w) > 0:
		return lo.unsupported("modifier %s", w.rest())
	case op == "arrive":
		in.flow, in.exec = checked, func(w *warp, in *instr, m uint32) { w.arriveCluster(in, m) }
	case op == "wait":
		in.flow, in.exec = groupSync, func(*warp, *instr, uint32) {}
		lo.extra().wait = clusterWait{}
	default:
		return lo.unsupported("no such form of barrier.cluster")
	}
	return lo.operands(0, 0)
}

// mapaForm lowers mapa: the address of the same place in the shared memory of another
// block of the cluster.
func mapaForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	w.take("shared::cluster")
	t := w.last()
	if len(w) > 0 || t != "u32" && t != "u64" {
		return lo.unsupported("no such form of mapa")
	}
	in := &lo.op.in
	in.kinds, in.flow = string(rune(widthOf(t))), checked
	in.exec = func(w *warp, in *instr, m uint32) {
		w.gather(&w.tmp[0], width(in.kinds[0]), in.a)
		rank := *lanes[uint32](w, in.b)
		eachLane(m, func(l int) {
			if int(rank[l]) >= w.block.clusterSize() {
				w.fail(in, l, gpu.ErrSpace, "block %d of a cluster of %d", rank[l], w.block.clusterSize())
				return
			}
			w.setLane(in, l, addressIn(w.tmp[0][l], int(rank[l])))
		})
	}
	return first(lo.operands(3, 3), lo.def(&in.d, 0, widthOf(t)), lo.use(&in.a, 1, t), lo.use(&in.b, 2, "u32"))
}
