package engine

import (
	"encoding/binary"

	"warpbook/gpu/emu/arith"
)

// laneSpecials are special registers whose value depends on the lane; they are set once
// per shape of block.
var laneSpecials = map[string]func(b *block, w *warp, lane int) uint64{
	"%tid.x":       func(b *block, w *warp, l int) uint64 { return uint64(b.thread(w.index*32 + l).X) },
	"%tid.y":       func(b *block, w *warp, l int) uint64 { return uint64(b.thread(w.index*32 + l).Y) },
	"%tid.z":       func(b *block, w *warp, l int) uint64 { return uint64(b.thread(w.index*32 + l).Z) },
	"%laneid":      func(_ *block, _ *warp, l int) uint64 { return uint64(l) },
	"%warpid":      func(_ *block, w *warp, _ int) uint64 { return uint64(w.index) },
	"%lanemask_eq": func(_ *block, _ *warp, l int) uint64 { return 1 << l },
	"%lanemask_lt": func(_ *block, _ *warp, l int) uint64 { return 1<<l - 1 },
	"%lanemask_le": func(_ *block, _ *warp, l int) uint64 { return 2<<l - 1 },
	"%lanemask_ge": func(_ *block, _ *warp, l int) uint64 { return all &^ (1<<l - 1) },
	"%lanemask_gt": func(_ *block, _ *warp, l int) uint64 { return all &^ (2<<l - 1) },
}

// launchSpecials are the same for all threads of a launch.
var launchSpecials = map[string]func(l *Launch) uint64{
	"%ntid.x":            func(l *Launch) uint64 { return uint64(l.block.X) },
	"%ntid.y":            func(l *Launch) uint64 { return uint64(l.block.Y) },
	"%ntid.z":            func(l *Launch) uint64 { return uint64(l.block.Z) },
	"%nctaid.x":          func(l *Launch) uint64 { return uint64(l.grid.X) },
	"%nctaid.y":          func(l *Launch) uint64 { return uint64(l.grid.Y) },
	"%nctaid.z":          func(l *Launch) uint64 { return uint64(l.grid.Z) },
	"%nwarpid":           func(l *Launch) uint64 { return uint64((l.threads + 31) / 32) },
	"%nsmid":             func(l *Launch) uint64 { return uint64(l.info.SMs) },
	"%gridid":            func(l *Launch) uint64 { return 1 },
	"%envreg1":           func(l *Launch) uint64 { return l.workspaceAddress() >> 32 },
	"%envreg2":           func(l *Launch) uint64 { return l.workspaceAddress() & (1<<32 - 1) },
	"%dynamic_smem_size": func(l *Launch) uint64 { return uint64(l.dynamic) },
	"%total_smem_size":   func(l *Launch) uint64 { return uint64(l.prog.static + l.dynamic) },
	"WARP_SZ":            func(*Launch) uint64 { return 32 },
	// Memory reserved for the system is outside of any block's.
	"%reserved_smem_offset_begin": reservedShared, "%reserved_smem_offset_end": reservedShared,
	"%reserved_smem_offset_0": reservedShared, "%reserved_smem_offset_1": reservedShared,
	// In a launch without clusters each block is its own cluster.
	"%is_explicit_cluster": func(l *Launch) uint64 { return uint64(arith.Bit(l.cluster.Size() > 1)) },
	"%cluster_nctarank":    func(l *Launch) uint64 { return uint64(l.cluster.Size()) },
	"%cluster_nctaid.x":    func(l *Launch) uint64 { return uint64(l.cluster.X) },
	"%cluster_nctaid.y":    func(l *Launch) uint64 { return uint64(l.cluster.Y) },
	"%cluster_nctaid.z":    func(l *Launch) uint64 { return uint64(l.cluster.Z) },
	"%nclusterid.x":        func(l *Launch) uint64 { return uint64(l.grid.X / l.cluster.X) },
	"%nclusterid.y":        func(l *Launch) uint64 { return uint64(l.grid.Y / l.cluster.Y) },
	"%nclusterid.z":        func(l *Launch) uint64 { return uint64(l.grid.Z / l.cluster.Z) },
}

func reservedShared(*Launch) uint64 { return 0xff000000 }

// blockSpecials are the same for all threads of a block.
var blockSpecials = map[string]func(b *block) uint64{
	"%ctaid.x":         func(b *block) uint64 { return uint64(b.at.X) },
	"%ctaid.y":         func(b *block) uint64 { return uint64(b.at.Y) },
	"%ctaid.z":         func(b *block) uint64 { return uint64(b.at.Z) },
	"%cluster_ctarank": func(b *block) uint64 { return uint64(b.rank()) },
	"%cluster_ctaid.x": func(b *block) uint64 { return uint64(b.at.X % b.launch.cluster.X) },
	"%cluster_ctaid.y": func(b *block) uint64 { return uint64(b.at.Y % b.launch.cluster.Y) },
	"%cluster_ctaid.z": func(b *block) uint64 { return uint64(b.at.Z % b.launch.cluster.Z) },
	"%clusterid.x":     func(b *block) uint64 { return uint64(b.at.X / b.launch.cluster.X) },
	"%clusterid.y":     func(b *block) uint64 { return uint64(b.at.Y / b.launch.cluster.Y) },
	"%clusterid.z":     func(b *block) uint64 { return uint64(b.at.Z / b.launch.cluster.Z) },
	"%smid":            func(b *block) uint64 { return uint64(b.linear() % b.launch.info.SMs) },
}

// clocks are special registers that each instruction reads again.
var clocks = map[string]bool{"%clock": true, "%clock_hi": true, "%clock64": true, "%globaltimer": true,
	"%globaltimer_lo": true, "%globaltimer_hi": true}

func knownSpecial(name string) bool {
	return laneSpecials[name] != nil || launchSpecials[name] != nil || blockSpecials[name] != nil
}

// workspaceAddress is 0 in a launch that is not cooperative: grid.sync() traps.
func (l *Launch) workspaceAddress() uint64 {
	if l.workspace == nil {
		return 0
	}
	return l.workspace.Address()
}

// linear is the number of the block in its grid.
func (b *block) linear() int {
	g := b.launch.grid
	return b.at.X + g.X*(b.at.Y+g.Y*b.at.Z)
}

// fillShape sets the presets that depend only on the program and the shape of the block.
func (b *block) fillShape() {
	for _, p := range b.prog.presets {
		for _, w := range b.warps {
			switch p.value.kind {
			case constantValue:
				w.fill(p, p.value.bits)
			case specialValue:
				if f := laneSpecials[p.value.name]; f != nil {
					for l := range 32 {
						w.put(p, l, f(b, w, l))
					}
				}
			}
		}
	}
	b.fillThreadConstants()
}

// fillLaunch sets the presets that depend on the launch.
func (b *block) fillLaunch() {
	for _, p := range b.prog.presets {
		var bits uint64
		switch p.value.kind {
		case parameterValue:
			bits = p.value.load(b.launch.params)
		case specialValue:
			f := launchSpecials[p.value.name]
			if f == nil {
				continue
			}
			bits = f(b.launch)
		default:
			continue
		}
		for _, w := range b.warps {
			w.fill(p, bits)
		}
	}
}

// fillBlock sets the presets that depend on the place in the grid.
func (b *block) fillBlock() {
	for _, p := range b.prog.placed {
		first := b.warps[0]
		first.fill(p.preset, p.of(b))
		for _, w := range b.warps[1:] {
			w.copyPreset(p.preset, first)
		}
	}
}

// copyPreset sets all lanes of a preset to those of another warp.
func (w *warp) copyPreset(p preset, from *warp) {
	switch p.value.width {
	case predicate:
		w.preds[p.offset] = from.preds[p.offset]
	case double:
		*lanes[uint64](w, p.offset) = *lanes[uint64](from, p.offset)
	default:
		*lanes[uint32](w, p.offset) = *lanes[uint32](from, p.offset)
	}
}

// load reads a parameter from the bytes of all parameters.
func (v value) load(params []byte) uint64 {
	var buf [8]byte
	copy(buf[:v.bytes], params[v.bits:])
	bits := binary.LittleEndian.Uint64(buf[:])
	if v.signed {
		shift := 64 - 8*v.bytes
		bits = uint64(int64(bits<<shift) >> shift)
	}
	return bits
}

// fill sets all lanes of a preset; put sets one.
func (w *warp) fill(p preset, v uint64) {
	switch p.value.width {
	case predicate:
		w.preds[p.offset] = -uint32(v & 1)
	case double:
		fillLanes(lanes[uint64](w, p.offset), v)
	default:
		fillLanes(lanes[uint32](w, p.offset), uint32(v)&p.value.width.mask())
	}
}

// fillLanes sets equal lanes: often they have this value already.
func fillLanes[T comparable](d *[32]T, v T) {
	if d[0] == v {
		return
	}
	for l := range d {
		d[l] = v
	}
}

func (w *warp) put(p preset, lane int, v uint64) {
	if p.value.width == double {
		lanes[uint64](w, p.offset)[lane] = v
		return
	}
	lanes[uint32](w, p.offset)[lane] = uint32(v) & p.value.width.mask()
}

// fillThreadConstants runs them for all lanes, also for those that have no thread.
func (b *block) fillThreadConstants() {
	for i := range b.prog.constantOps {
		in := &b.prog.constantOps[i]
		for _, w := range b.warps {
			in.exec(w, in, all)
		}
	}
}
