package structured

import "fmt"

// warpText is a kernel of warps, each of which loads a and b of 32 bits for each lane and
// multiplies in a loop. Lane l has pieces of rows l/4 and l/4 + 8 of A and of column l/4
// of B.
func warpText(name string, aWords, bWords int, product string) string {
	load := func(register, from string, words int) (text string) {
		text = fmt.Sprintf("\tmad.wide.u32 %%x, %%lane, %d, %%%s;\n", 4*words, from)
		for i := range words {
			text += fmt.Sprintf("\tld.global.b32 %%%s%d, [%%x+%d];\n", register, i, 4*i)
		}
		return text
	}
	return fmt.Sprintf(`.version 8.2
.target sm_90a
.address_size 64
.visible .entry %s(.param .u64 a, .param .u64 b, .param .u64 e, .param .u64 d, .param .u32 loops)
{
	.reg .pred %%p;
	.reg .b32 %%lane, %%i, %%loops, %%e, %%a<8>, %%b<4>;
	.reg .b64 %%x, %%pa, %%pb, %%pe, %%pd;
	.reg .f32 %%d<4>;
	ld.param.u64 %%pa, [a];
	ld.param.u64 %%pb, [b];
	ld.param.u64 %%pe, [e];
	ld.param.u64 %%pd, [d];
	ld.param.u32 %%loops, [loops];
	mov.u32 %%lane, %%laneid;
%s%s	mad.wide.u32 %%x, %%lane, 4, %%pe;
	ld.global.b32 %%e, [%%x];
	mov.f32 %%d0, 0f00000000;
	mov.f32 %%d1, %%d0;
	mov.f32 %%d2, %%d0;
	mov.f32 %%d3, %%d0;
	mov.u32 %%i, 0;
again:
%s	add.u32 %%i, %%i, 1;
	setp.lt.u32 %%p, %%i, %%loops;
	@%%p bra again;
	mad.wide.u32 %%x, %%lane, 16, %%pd;
	st.global.v4.f32 [%%x], {%%d0, %%d1, %%d2, %%d3};
	ret;
}
`, name, load("a", "pa", aWords), load("b", "pb", bWords), product)
}

// groupText is a kernel of one warpgroup: 128 threads copy A (64 rows) and B to shared
// memory, in cores of 8 rows x 16 bytes, and multiply.
func groupText(name string, aWords int, product string) string {
	return fmt.Sprintf(`.version 8.2
.target sm_90a
.address_size 64
.visible .entry %s(.param .u64 a, .param .u64 b, .param .u64 e, .param .u64 d, .param .u32 loops)
{
	.reg .pred %%p, %%q;
	.reg .b32 %%t, %%i, %%at, %%v, %%loops, %%e;
	.reg .b64 %%x, %%pa, %%pb, %%pe, %%pd, %%a0, %%a1, %%b0, %%b1;
	.reg .f32 %%d<4>;
	.shared .align 128 .b8 tile[4608];
	ld.param.u64 %%pa, [a];
	ld.param.u64 %%pb, [b];
	ld.param.u64 %%pe, [e];
	ld.param.u64 %%pd, [d];
	ld.param.u32 %%loops, [loops];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%i, %%t;
copy:
	mad.wide.u32 %%x, %%i, 4, %%pa;
	ld.global.b32 %%v, [%%x];
	mov.u32 %%at, tile;
	mad.lo.u32 %%at, %%i, 4, %%at;
	st.shared.b32 [%%at], %%v;
	add.u32 %%i, %%i, 128;
	setp.lt.u32 %%p, %%i, %d;
	@%%p bra copy;
	mad.wide.u32 %%x, %%t, 4, %%pb;
	ld.global.b32 %%v, [%%x];
	mov.u32 %%at, tile;
	mad.lo.u32 %%at, %%t, 4, %%at;
	st.shared.b32 [%%at+4096], %%v;
	and.b32 %%v, %%t, 31;
	mad.wide.u32 %%x, %%v, 4, %%pe;
	ld.global.b32 %%e, [%%x];
	fence.proxy.async.shared::cta;
	bar.sync 0;
	mov.u32 %%at, tile;
	shr.u32 %%at, %%at, 4;
	cvt.u64.u32 %%a0, %%at;
	or.b64 %%a0, %%a0, 0x%x; // 128 bytes to the next 8 rows, 1024 to the next 16 bytes of k
	add.u64 %%a1, %%a0, %d;
	cvt.u64.u32 %%b0, %%at;
	add.u64 %%b0, %%b0, %d;
	or.b64 %%b0, %%b0, 0x%x; // 128 bytes to the next 16 bytes of k
	add.u64 %%b1, %%b0, %d;
	mov.f32 %%d0, 0f00000000;
	mov.f32 %%d1, %%d0;
	mov.f32 %%d2, %%d0;
	mov.f32 %%d3, %%d0;
	setp.eq.u32 %%q, 0, 0;
	mov.u32 %%i, 0;
again:
	wgmma.fence.sync.aligned;
%s	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	add.u32 %%i, %%i, 1;
	setp.lt.u32 %%p, %%i, %%loops;
	@%%p bra again;
	mad.wide.u32 %%x, %%t, 16, %%pd;
	st.global.v4.f32 [%%x], {%%d0, %%d1, %%d2, %%d3};
	ret;
}
`, name, aWords, 128<<32>>4|1024>>4<<16, 2048>>4, 4096>>4, 128<<32>>4|128>>4<<16, 256>>4, product)
}

// The products of the kernels' loops.
const (
	sums = "{%d0, %d1, %d2, %d3}"

	mmaF16 = "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + sums + ", {%a0, %a1, %a2, %a3}, {%b0, %b1}, " + sums + ";\n" +
		"\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + sums + ", {%a4, %a5, %a6, %a7}, {%b2, %b3}, " + sums + ";\n"
	mmaSpF16 = "\tmma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " + sums + ", {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, " + sums + ", %e, 0;\n"
	mmaTF32  = "\tmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " + sums + ", {%a0, %a1, %a2, %a3}, {%b0, %b1}, " + sums + ";\n" +
		"\tmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " + sums + ", {%a4, %a5, %a6, %a7}, {%b2, %b3}, " + sums + ";\n"
	mmaSpTF32 = "\tmma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 " + sums + ", {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, " + sums + ", %e, 0;\n"
	wgmmaF16  = "\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + sums + ", %a0, %b0, %q, 1, 1, 0, 0;\n" +
		"\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + sums + ", %a1, %b1, %q, 1, 1, 0, 0;\n"
	wgmmaSpF16 = "\twgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " + sums + ", %a0, %b0, %e, 0, %q, 1, 1, 0, 0;\n"
)
