package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// fragmentRequest is an access that the machine makes for wmma.load or
// wmma.store: some bytes of each lane, from an element on.
type fragmentRequest struct {
	bytes    int
	lanes    uint32
	row, col [32]int
}

// machineLayout is the layout of a fragment over lanes in code of ptxas 13.0, for sm_80
// and newer: as in mma.sync, in blocks of 8 rows of which lanes 4i to 4i+3 hold row i,
// side by side along k, or along n for c and d.
type machineLayout struct {
	blocks, along int  // number of blocks of 8 rows, and of blocks side by side
	pair          int  // elements side by side in a lane
	size          int  // bytes of an element
	flipped       bool // rows are columns
	straight      bool // memory goes along
}

func (t *wmmaTransfer) machineLayout(which string) machineLayout {
	m := machineLayout{size: t.f.of.Bytes(), pair: 2}
	factor := which == "a" || which == "b"
	if factor {
		m.pair = max(1, 4/m.size)
	}
	m.flipped = which == "b" || !factor && t.f.rows == 8 && t.f.cols == 32
	rows, columns := t.f.rows, t.f.cols
	if m.flipped {
		rows, columns = columns, rows
	}
	m.blocks, m.along = rows/8, columns/(4*m.pair)
	m.straight = t.across == m.flipped
	return m
}

// requests are the accesses of a fragment, lane by lane. Elements that are not
// contiguous in memory are read one by one, those of 16 bits as pairs that are
// transposed in registers.
func (m machineLayout) requests() (all []fragmentRequest) {
	for block := range m.blocks {
		for along := range m.along {
			switch {
			case m.straight:
				all = append(all, m.request(m.pair*m.size, func(l int) (int, int) { return 8*block + l/4, (4*along + l%4) * m.pair }))
			case m.size == 2:
				all = append(all, m.request(4, func(l int) (int, int) { return 8*block + l%4*2, 8*along + l/4 }))
			default:
				for i := range m.pair {
					all = append(all, m.request(m.size, func(l int) (int, int) { return 8*block + l/4, (4*along+l%4)*m.pair + i }))
				}
			}
		}
	}
	return all
}

// matrices are the accesses of a factor in shared memory: ldmatrix of blocks of
// 8 rows of 16 bytes, up to four at once.
func (m machineLayout) matrices() (all []fragmentRequest) {
	most := 4
	if m.size == 1 {
		most = 2
	}
	count := m.blocks * m.along
	for first := 0; first < count; first += most {
		r := m.request(16, func(l int) (int, int) {
			block, along := (first+l/8)%m.blocks, (first+l/8)/m.blocks
			if m.straight {
				return 8*block + l%8, 4 * m.pair * along
			}
			return 8 * block, 8*along + l%8
		})
		r.lanes = uint32(1<<(8*min(most, count-first)) - 1)
		all = append(all, r)
	}
	return all
}

func (m machineLayout) request(bytes int, place func(lane int) (row, along int)) fragmentRequest {
	r := fragmentRequest{bytes: bytes, lanes: all}
	for l := range 32 {
		if m.flipped {
			r.col[l], r.row[l] = place(l)
		} else {
			r.row[l], r.col[l] = place(l)
		}
	}
	return r
}

// byMatrix reports whether the machine reads a fragment by ldmatrix, if it lies in
// shared memory.
func (m machineLayout) byMatrix(which string) bool {
	return (which == "a" || which == "b") && (m.size == 2 || m.size == 1 && m.straight)
}

// count counts the accesses of the machine code, which differ from those of the
// emulator.
func (t *wmmaTransfer) count(w *warp, base [32]uint64, stride [32]uint32) {
	space, window := t.space, uint64(0)
	if space == ptx.Generic {
		space, window = spaceOf(base[0])
	}
	requests := t.requests
	if space == ptx.Shared && t.matrices != nil {
		requests = t.matrices
		w.block.cnt.MatrixLoads += uint64(len(requests))
	}
	for i := range requests {
		r := &requests[i]
		p := gpu.Pattern{Mask: r.lanes, Bytes: r.bytes, Write: t.storing}
		for l := range 32 {
			row, col := r.row[l], r.col[l]
			if t.across {
				row, col = col, row
			}
			p.Address[l] = base[l] - window + uint64(row*int(stride[l])+col)*uint64(t.f.of.Bytes())
		}
		w.countPattern(t.part, space, &p)
	}
}
