//go:build cuda

package main

import (
	"encoding/binary"

	"gorgonia.org/cu"
)

// sweep leaves nothing in L2 but lines of memory of its own, twice the size of
// L2. It reads: lines that were written would have to be written back under the
// launch that is timed, which took 9 us more for 100 MB on an H200.
type sweep struct {
	function function
	params   [16]byte
}

// sweepBlocks of 256 threads read 16 bytes each at a time.
const sweepBlocks = 1024

// sweepPTX reads the bytes at memory. It writes only if it reads a number that the
// memory does not hold.
const sweepPTX = `
.version 6.4
.target sm_75
.address_size 64

.visible .entry sweep(.param .u64 memory, .param .u64 bytes)
{
	.reg .u64 %rd<6>;
	.reg .u32 %r<10>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [memory];
	ld.param.u64 %rd2, [bytes];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mul.wide.u32 %rd3, %r4, 16;
	mov.u32 %r5, %nctaid.x;
	mul.lo.u32 %r5, %r5, %r2;
	mul.wide.u32 %rd4, %r5, 16;
again:
	setp.ge.u64 %p1, %rd3, %rd2;
	@%p1 bra done;
	add.u64 %rd5, %rd1, %rd3;
	ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5];
	and.b32 %r6, %r6, %r7;
	and.b32 %r8, %r8, %r9;
	and.b32 %r6, %r6, %r8;
	setp.eq.u32 %p2, %r6, 0x5eed5eed;
	@%p2 st.global.u32 [%rd5], %r6;
	add.u64 %rd3, %rd3, %rd4;
	bra again;
done:
	ret;
}
`

// sweeper is the worker's sweep; nil where L2 has no size.
func (w *worker) sweeper() (*sweep, error) {
	if w.sweep != nil || w.l2 == 0 {
		return w.sweep, nil
	}
	bytes := 2 * w.l2
	at, err := cu.MemAlloc(bytes)
	if err != nil {
		return nil, wrap(err, "flush")
	}
	if err := cu.MemsetD8(at, 0, bytes); err != nil {
		return nil, wrap(err, "flush")
	}
	m, err := loadModule(sweepPTX)
	if err != nil {
		return nil, err
	}
	s := &sweep{}
	if s.function, err = m.function("sweep", []uint32{0, 8}); err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint64(s.params[:], uint64(at))
	binary.LittleEndian.PutUint64(s.params[8:], uint64(bytes))
	w.sweep = s
	return s, nil
}

// submit puts the sweep into a stream.
func (s *sweep) submit(stream cu.Stream) error {
	return s.function.launch(&[6]uint32{sweepBlocks, 1, 1, 256, 1, 1}, new([3]uint32), 0, false, stream, s.params[:])
}
