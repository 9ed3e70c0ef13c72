package engine

import (
	"encoding/binary"

	"warpbook/gpu/emu/special"
)

// This file sets the slots that have their values before a program starts.

// specials is what special registers depend on.
func (l *Launch) specials() special.Launch {
	s := special.Launch{Grid: l.grid, Block: l.block, Cluster: l.cluster, Threads: l.threads, SMs: l.info.SMs, Static: l.prog.static, Dynamic: l.dynamic}
	if l.workspace != nil {
		s.Workspace = l.workspace.Address()
	}
	return s
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
				fillPreset(w, p, p.value.bits)
			case specialValue:
				if f := special.Lane[p.value.name]; f != nil {
					for l := range 32 {
						putPreset(w, p, l, f(b.thread(w.index*32+l), w.index, l))
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
			f := special.OfLaunch[p.value.name]
			if f == nil {
				continue
			}
			bits = f(&b.launch.special)
		default:
			continue
		}
		for _, w := range b.warps {
			fillPreset(w, p, bits)
		}
	}
}

// fillBlock sets the presets that depend on the place in the grid.
func (b *block) fillBlock() {
	if len(b.prog.placed) == 0 {
		return
	}
	b.place = special.Block{Launch: &b.launch.special, At: b.at, Rank: b.rank()} // no allocation
	for _, p := range b.prog.placed {
		first := b.warps[0]
		fillPreset(first, p.preset, p.of(&b.place))
		for _, w := range b.warps[1:] {
			copyPreset(w, p.preset, first)
		}
	}
}

// copyPreset sets all lanes of a preset to those of another warp.
func copyPreset(w *warp, p preset, from *warp) {
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

// fillPreset sets all lanes of a preset; putPreset sets one.
func fillPreset(w *warp, p preset, v uint64) {
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

func putPreset(w *warp, p preset, lane int, v uint64) {
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
