package emu

import (
	"fmt"
	"strings"
	"testing"
)

// wmmaRequests are the numbers of accesses that ptxas 13.0 makes for sm_90 of a fragment
// in shared memory, and the number of ldmatrix among them, as cuobjdump shows them.
var wmmaRequests = []struct {
	form               string // of wmma
	registers          int
	requests, matrices uint64
}{
	{"load.a row m16n16k16 f16", 8, 1, 1}, {"load.a col m16n16k16 f16", 8, 1, 1}, {"load.b row m16n16k16 f16", 8, 1, 1},
	{"load.a row m32n8k16 f16", 8, 2, 2}, {"load.b col m32n8k16 f16", 8, 1, 1}, {"load.b row m8n32k16 bf16", 8, 2, 2},
	{"load.a row m8n32k16 bf16", 2, 1, 1}, {"load.b row m32n8k16 bf16", 2, 1, 1},
	{"load.a row m16n16k8 tf32", 4, 4, 0}, {"load.b row m16n16k8 tf32", 4, 4, 0}, {"load.b col m16n16k8 tf32", 4, 4, 0},
	{"load.a row m16n16k16 s8", 2, 1, 1}, {"load.a col m16n16k16 s8", 2, 8, 0}, {"load.b row m16n16k16 s8", 2, 8, 0},
	{"load.a row m32n8k16 s8", 4, 2, 2}, {"load.a col m32n8k16 s8", 4, 16, 0}, {"load.b col m32n8k16 s8", 1, 1, 1},
	{"load.b row m32n8k16 s8", 1, 4, 0}, {"load.a col m8n32k16 u8", 1, 4, 0}, {"load.b col m8n32k16 u8", 4, 2, 2},
	{"load.a row m8n8k4 f64", 1, 1, 0}, {"load.b row m8n8k4 f64", 1, 1, 0},
	{"load.c row m16n16k16 f32", 8, 4, 0}, {"load.c col m16n16k16 f32", 8, 8, 0}, {"load.c row m16n16k16 f16", 4, 4, 0},
	{"load.c col m16n16k16 f16", 4, 4, 0}, {"load.c row m8n8k4 f64", 2, 1, 0}, {"load.c col m8n8k4 f64", 2, 2, 0},
	{"load.c row m32n8k16 s32", 8, 4, 0}, {"load.c col m32n8k16 s32", 8, 8, 0},
	{"store.d row m16n16k16 f32", 8, 4, 0}, {"store.d col m16n16k16 f32", 8, 8, 0}, {"store.d col m16n16k16 f16", 4, 4, 0},
	{"store.d row m8n32k16 f32", 8, 8, 0}, {"store.d col m8n32k16 f32", 8, 4, 0}, {"store.d row m8n8k4 f64", 2, 1, 0},
}

// TestWmmaRequests counts the accesses of fragments in machine code.
func TestWmmaRequests(t *testing.T) {
	for _, c := range wmmaRequests {
		w := strings.Fields(c.form)
		op, layout, shape, typ := w[0], w[1], w[2], w[3]
		register := map[string]string{"f32": "f32", "f64": "f64"}[typ]
		if register == "" {
			register = "b32"
		}
		var list []string
		body := "mov.u32 %r2, s; mov.u32 %r3, %t;\nfill: mul.lo.u32 %r4, %r3, 4; add.u32 %r4, %r4, %r2; st.shared.u32 [%r4], 0; add.u32 %r3, %r3, 32; setp.lt.u32 %a0, %r3, 2048; @%a0 bra fill;\nbar.sync 0;\n"
		for i := range c.registers {
			list = append(list, fmt.Sprintf("%%x%d", i))
			body += fmt.Sprintf("mov.%s %%x%d, %s;\n", register, i, map[string]string{"f32": "0f00000000", "f64": "0d0000000000000000", "b32": "0"}[register])
		}
		fragment := "{" + strings.Join(list, ", ") + "}"
		operands := fragment + ", [%r2]"
		if op == "store.d" {
			operands = "[%r2], " + fragment
		}
		run := func(body string) (requests, matrices uint64) {
			j := newJob(t, fmt.Sprintf(".shared .align 128 .b8 s[8192]; .reg .%s %%x<8>;", register), body, 1, 32)
			j.run()
			return j.counters.SharedLoad.Requests + j.counters.SharedStore.Requests, j.counters.MatrixLoads
		}
		without, _ := run(body)
		requests, matrices := run(body + fmt.Sprintf("wmma.%s.sync.aligned.%s.%s.shared.%s %s, 48;", op, layout, shape, typ, operands))
		if requests -= without; requests != c.requests || matrices != c.matrices {
			t.Errorf("%s: %d requests, %d of them ldmatrix, expected %d and %d", c.form, requests, matrices, c.requests, c.matrices)
		}
	}
}
