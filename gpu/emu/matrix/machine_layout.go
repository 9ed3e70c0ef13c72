package matrix

const all = 1<<32 - 1

// Request is an access that the machine makes for wmma.load or wmma.store: some bytes of
// each lane, from an element on.
type Request struct {
	Bytes    int
	Lanes    uint32
	Row, Col [32]int
}

// MachineLayout is the layout of a fragment over lanes in code of ptxas 13.0, for sm_80
// and newer: as in mma.sync, in blocks of 8 rows of which lanes 4i to 4i+3 hold row i,
// side by side along k, or along n for c and d.
type MachineLayout struct {
	blocks, along int  // number of blocks of 8 rows, and of blocks side by side
	pair          int  // elements side by side in a lane
	size          int  // bytes of an element
	flipped       bool // rows are columns
	straight      bool // memory goes along
}

// MachineLayout is that of operand a, b, c or d, which lies in memory row by row or, if
// across, column by column.
func (f *Fragment) MachineLayout(which string, across bool) MachineLayout {
	m := MachineLayout{size: f.Of.Bytes(), pair: 2}
	factor := which == "a" || which == "b"
	if factor {
		m.pair = max(1, 4/m.size)
	}
	m.flipped = which == "b" || !factor && f.Rows == 8 && f.Cols == 32
	rows, columns := f.Rows, f.Cols
	if m.flipped {
		rows, columns = columns, rows
	}
	m.blocks, m.along = rows/8, columns/(4*m.pair)
	m.straight = across == m.flipped
	return m
}

// Requests are the accesses of a fragment, lane by lane. Elements that are not
// contiguous in memory are read one by one, those of 16 bits as pairs that are
// transposed in registers.
func (m MachineLayout) Requests() (all []Request) {
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

// Matrices are the accesses of a factor in shared memory: ldmatrix of blocks of
// 8 rows of 16 bytes, up to four at once.
func (m MachineLayout) Matrices() (all []Request) {
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
		r.Lanes = uint32(1<<(8*min(most, count-first)) - 1)
		all = append(all, r)
	}
	return all
}

func (m MachineLayout) request(bytes int, place func(lane int) (row, along int)) Request {
	r := Request{Bytes: bytes, Lanes: all}
	for l := range 32 {
		if m.flipped {
			r.Col[l], r.Row[l] = place(l)
		} else {
			r.Row[l], r.Col[l] = place(l)
		}
	}
	return r
}

// ByMatrix reports whether the machine reads a fragment by ldmatrix, if it lies in
// shared memory.
func (m MachineLayout) ByMatrix(which string) bool {
	return (which == "a" || which == "b") && (m.size == 2 || m.size == 1 && m.straight)
}
