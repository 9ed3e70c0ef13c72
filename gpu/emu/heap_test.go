package emu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// heapPTX allocates size bytes in each thread, stores at an offset in them, and frees a block so
// often.
const heapPTX = `.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry heap(.param .u64 out, .param .u64 size, .param .u64 offset, .param .u32 frees) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  .reg .pred %p<2>;
  .param .b64 result;
  .param .b64 argument;
  ld.param.u64 %rd1, [size];
  st.param.b64 [argument], %rd1;
  call.uni (result), malloc, (argument);
  ld.param.b64 %rd2, [result];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 8;
  add.s64 %rd3, %rd3, %rd4;
  st.global.u64 [%rd3], %rd2;
  setp.eq.s64 %p1, %rd2, 0;
  @%p1 bra DONE;
  ld.param.u64 %rd5, [offset];
  add.s64 %rd6, %rd2, %rd5;
  st.u32 [%rd6], %r1;
  ld.param.u32 %r2, [frees];
LOOP:
  setp.eq.s32 %p1, %r2, 0;
  @%p1 bra DONE;
  st.param.b64 [argument], %rd2;
  call.uni free, (argument);
  sub.s32 %r2, %r2, 1;
  bra LOOP;
DONE:
  ret;
}
`

// Blocks of the heap are apart, count until they are freed, and end at their size.
func TestHeap(t *testing.T) {
	dev, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	d := dev.(*Device)
	m, err := d.Load("heap.ptx", heapPTX)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("heap")
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Alloc(gpu.Uint64, 32)
	if err != nil {
		t.Fatal(err)
	}
	run := func(size, offset uint64, frees uint32) []uint64 {
		err = d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Args: []any{out, size, offset, frees}})
		addresses := make([]uint64, 32)
		if err == nil {
			err = out.Download(addresses)
		}
		return addresses
	}
	addresses := run(24, 20, 0)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(addresses)
	if addresses[0] == 0 || len(slices.Compact(addresses)) != 32 {
		t.Errorf("%#x, expected 32 addresses", addresses)
	}
	if got := d.HeapBlocks(); len(got) != 1 || !strings.HasPrefix(got[0], "32 blocks of 768 bytes, malloc at line ") {
		t.Errorf("%q", got)
	}
	d.FreeHeap()
	if run(24, 0, 1); err != nil || len(d.HeapBlocks()) != 0 {
		t.Errorf("%v, %q left", err, d.HeapBlocks())
	}
	d.LimitHeap(100)
	addresses = run(48, 0, 0)
	slices.Sort(addresses)
	if err != nil || addresses[29] != 0 || addresses[30] == 0 {
		t.Errorf("%v, %#x, expected 2 blocks of 48 bytes in 100", err, addresses)
	}
	d.FreeHeap()
	for _, c := range []struct {
		size, offset uint64
		frees        uint32
		kind         error
		says         string
	}{
		{24, 24, 0, gpu.ErrOutOfBounds, "past malloc at line "},
		{24, 0, 2, gpu.ErrFreed, "was freed before"},
	} {
		if run(c.size, c.offset, c.frees); !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
		d.FreeHeap()
	}
}
