package arith

import "fmt"

// videoRows are vabsdiff2 and vabsdiff4 without a mask and without selectors of parts: the
// distances of the parts of a and b. Each is cut to a part of d, or clamped to its type by
// .sat, or all are added to c by .add.
func videoRows() (rows []Row) {
	types := []string{"u32", "s32"}
	for parts := 2; parts <= 4; parts += 2 {
		for _, d := range types {
			for _, a := range types {
				for _, b := range types {
					name := fmt.Sprintf("vabsdiff%d.%s.%s.%s", parts, d, a, b)
					v := video{bits: 32 / parts, signedD: d == "s32", signedA: a == "s32", signedB: b == "s32"}
					rows = append(rows, Row{Name: name, Kinds: "wwww", Lane: v.cut},
						Row{Name: name + ".sat", Kinds: "wwww", Lane: v.clamped},
						Row{Name: name + ".add", Kinds: "wwww", Lane: v.added})
				}
			}
		}
	}
	return rows
}

// video is a form of a video instruction: the bits of a part, and which values are signed.
type video struct {
	bits                      int
	signedD, signedA, signedB bool
}

// distance is that of the parts of a and b from a bit on.
func (v video) distance(a, b uint64, shift int) int64 {
	part := func(x uint64, signed bool) int64 {
		x = x << (64 - v.bits - shift)
		if signed {
			return int64(x) >> (64 - v.bits)
		}
		return int64(x >> (64 - v.bits))
	}
	d := part(a, v.signedA) - part(b, v.signedB)
	return max(d, -d)
}

func (v video) cut(_ *Operation, a, b, _ uint64) (d uint64) {
	for shift := 0; shift < 32; shift += v.bits {
		d |= uint64(v.distance(a, b, shift)) & (1<<v.bits - 1) << shift
	}
	return d
}

func (v video) clamped(_ *Operation, a, b, _ uint64) (d uint64) {
	most := int64(1)<<v.bits - 1
	if v.signedD {
		most >>= 1
	}
	for shift := 0; shift < 32; shift += v.bits {
		d |= uint64(min(v.distance(a, b, shift), most)) << shift
	}
	return d
}

func (v video) added(_ *Operation, a, b, c uint64) uint64 {
	for shift := 0; shift < 32; shift += v.bits {
		c += uint64(v.distance(a, b, shift))
	}
	return c
}
