package main

import "testing"

func TestShort(t *testing.T) {
	for line, want := range map[string]string{
		"warning: k<256>: ld.volatile.shared.b32 at note000:911 (a.ptx:92): race: read-after-write hazard on byte 64 of shared variable smem: thread (1,0,0) wrote it with st at x, and no barrier stands between: put __syncwarp() there, block (0,0,0) thread (3,0,0): x = 1;": "warning: note000:911: race: read-after-write hazard on shared variable smem",
		"k: st.global.b32 at note001:20 (b.ptx:127): out of bounds: 4 bytes at address 0x7f00 end 4 bytes past buffer of cudaMalloc at driver.h:24 (4000 bytes), argument 2, block (3,0,0) thread (232,0,0)":                                                                     "note001:20: out of bounds: 4 bytes at address ... end 4 bytes past buffer of cudaMalloc at driver.h:24 (4000 bytes)",
		"a.cu:12: segmentation fault": "a.cu:12: segmentation fault",
	} {
		if got := short(line); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
