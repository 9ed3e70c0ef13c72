#include "vector_amd64.h"
#include "shuffle_amd64.h"

// Vector operations on 32 lanes with AVX2.
//
// Y9 is the bits of 4 lanes, Y10 those of 8, Y11 the sign bits of 32-bit
// lanes, Y12 of 64-bit ones, Y13 all ones, Y14 the NaN of f32 results.

DATA lanes8<>+0(SB)/8, $0x0000000200000001
DATA lanes8<>+8(SB)/8, $0x0000000800000004
DATA lanes8<>+16(SB)/8, $0x0000002000000010
DATA lanes8<>+24(SB)/8, $0x0000008000000040
GLOBL lanes8<>(SB), RODATA, $32
DATA lanes4<>+0(SB)/8, $1
DATA lanes4<>+8(SB)/8, $2
DATA lanes4<>+16(SB)/8, $4
DATA lanes4<>+24(SB)/8, $8
GLOBL lanes4<>(SB), RODATA, $32

// The order of 4 bytes each after two narrowings of 32 lanes.
DATA narrowed<>+0(SB)/8, $0x0000000400000000
DATA narrowed<>+8(SB)/8, $0x0000000500000001
DATA narrowed<>+16(SB)/8, $0x0000000600000002
DATA narrowed<>+24(SB)/8, $0x0000000700000003
GLOBL narrowed<>(SB), RODATA, $32

// LANES8 makes a mask of the lowest 8 bits of a register, and drops them.
#define LANES8(from, y) \
	VMOVD from, X15 \
	VPBROADCASTD X15, y \
	VPAND Y10, y, y \
	VPCMPEQD Y10, y, y \
	SHRL $8, from
#define LANES4(from, y) \
	VMOVD from, X15 \
	VPBROADCASTQ X15, y \
	VPAND Y9, y, y \
	VPCMPEQQ Y9, y, y \
	SHRL $4, from
#define KEEP32(y, at) \
	LANES8(AX, Y4) \
	VMOVDQU at(DI)(DX*1), Y5 \
	VPBLENDVB Y4, y, Y5, Y5 \
	VMOVDQU Y5, at(DI)(DX*1)
#define KEEP64(y, at) \
	LANES4(AX, Y8) \
	VPAND Y8, y, y \
	VPANDN at(DI)(DX*1), Y8, Y8 \
	VPOR Y8, y, y \
	VMOVDQU y, at(DI)(DX*1)

// A 32-bit result is in Y0 to Y3, one of 64 bits in Y0 to Y7.
#define STORE32 \
	VMOVDQU Y0, (DI)(DX*1) \
	VMOVDQU Y1, 32(DI)(DX*1) \
	VMOVDQU Y2, 64(DI)(DX*1) \
	VMOVDQU Y3, 96(DI)(DX*1)
#define STORE64 \
	STORE32 \
	VMOVDQU Y4, 128(DI)(DX*1) \
	VMOVDQU Y5, 160(DI)(DX*1) \
	VMOVDQU Y6, 192(DI)(DX*1) \
	VMOVDQU Y7, 224(DI)(DX*1)
#define MERGE32 KEEP32(Y0, 0); KEEP32(Y1, 32); KEEP32(Y2, 64); KEEP32(Y3, 96)
#define MERGE64 KEEP64(Y0, 0); KEEP64(Y1, 32); KEEP64(Y2, 64); KEEP64(Y3, 96); \
	KEEP64(Y4, 128); KEEP64(Y5, 160); KEEP64(Y6, 192); KEEP64(Y7, 224)

// Sources.
#define LOAD32(at, y0, y1, y2, y3) \
	VMOVDQU (DI)(at*1), y0 \
	VMOVDQU 32(DI)(at*1), y1 \
	VMOVDQU 64(DI)(at*1), y2 \
	VMOVDQU 96(DI)(at*1), y3
#define A32 \
	MOVL Step_A(SI), AX \
	LOAD32(AX, Y0, Y1, Y2, Y3)
#define A64 \
	A32 \
	VMOVDQU 128(DI)(AX*1), Y4 \
	VMOVDQU 160(DI)(AX*1), Y5 \
	VMOVDQU 192(DI)(AX*1), Y6 \
	VMOVDQU 224(DI)(AX*1), Y7

#define EACH32(INS, at) \
	INS (DI)(at*1), Y0, Y0 \
	INS 32(DI)(at*1), Y1, Y1 \
	INS 64(DI)(at*1), Y2, Y2 \
	INS 96(DI)(at*1), Y3, Y3
#define EACH64(INS, at) \
	EACH32(INS, at) \
	INS 128(DI)(at*1), Y4, Y4 \
	INS 160(DI)(at*1), Y5, Y5 \
	INS 192(DI)(at*1), Y6, Y6 \
	INS 224(DI)(at*1), Y7, Y7
#define BOTH32(INS) A32; B; EACH32(INS, BX)
#define BOTH64(INS) A64; B; EACH64(INS, BX)
#define PLUS32 C; EACH32(VPADDD, DX)
#define PLUS64 C; EACH64(VPADDQ, DX)
#define VAND VPAND
#define VOR VPOR
#define VXOR VPXOR
#define INVERT32 VPXOR Y13, Y0, Y0; VPXOR Y13, Y1, Y1; VPXOR Y13, Y2, Y2; VPXOR Y13, Y3, Y3
#define INVERT64 INVERT32; VPXOR Y13, Y4, Y4; VPXOR Y13, Y5, Y5; VPXOR Y13, Y6, Y6; VPXOR Y13, Y7, Y7
#define FLOATS32 A32; VCVTDQ2PS Y0, Y0; VCVTDQ2PS Y1, Y1; VCVTDQ2PS Y2, Y2; VCVTDQ2PS Y3, Y3

// Every NaN result is the same one. Two comparisons find whether there is any.
#define CANONICAL1(y) \
	VCMPPS $3, y, y, Y15 \
	VBLENDVPS Y15, Y14, y, y
#define CANONICAL \
	VCMPPS $3, Y1, Y0, Y4 \
	VCMPPS $3, Y3, Y2, Y5 \
	VORPS Y4, Y5, Y4 \
	VTESTPS Y4, Y4 \
	JEQ numbers \
	CANONICAL1(Y0) \
	CANONICAL1(Y1) \
	CANONICAL1(Y2) \
	CANONICAL1(Y3) \
numbers:

#define FUSED \
	A32; B; C \
	LOAD32(BX, Y4, Y5, Y6, Y7) \
	VFMADD213PS (DI)(DX*1), Y4, Y0 \
	VFMADD213PS 32(DI)(DX*1), Y5, Y1 \
	VFMADD213PS 64(DI)(DX*1), Y6, Y2 \
	VFMADD213PS 96(DI)(DX*1), Y7, Y3 \
	CANONICAL

// EXTENDED extends 32 values of 32 bits to 64; WIDENED does so with those of b
// and applies INS to each and the one of a.
#define EXTENDED(EXTEND) \
	MOVL Step_A(SI), AX \
	EXTEND (DI)(AX*1), Y0 \
	EXTEND 16(DI)(AX*1), Y1 \
	EXTEND 32(DI)(AX*1), Y2 \
	EXTEND 48(DI)(AX*1), Y3 \
	EXTEND 64(DI)(AX*1), Y4 \
	EXTEND 80(DI)(AX*1), Y5 \
	EXTEND 96(DI)(AX*1), Y6 \
	EXTEND 112(DI)(AX*1), Y7
#define WIDENED1(EXTEND, INS, at, y) \
	EXTEND at(DI)(BX*1), Y8 \
	INS Y8, y, y
#define WIDENED(EXTEND, INS) \
	B \
	WIDENED1(EXTEND, INS, 0, Y0) \
	WIDENED1(EXTEND, INS, 16, Y1) \
	WIDENED1(EXTEND, INS, 32, Y2) \
	WIDENED1(EXTEND, INS, 48, Y3) \
	WIDENED1(EXTEND, INS, 64, Y4) \
	WIDENED1(EXTEND, INS, 80, Y5) \
	WIDENED1(EXTEND, INS, 96, Y6) \
	WIDENED1(EXTEND, INS, 112, Y7)
#define WIDE(EXTEND, INS) EXTENDED(EXTEND); WIDENED(EXTEND, INS)
#define SHIFT64(INS) A64; WIDENED(VPMOVZXDQ, INS)

#define LOW(y, high, d) \
	VSHUFPS $0x88, high, y, d \
	VPERMQ $0xd8, d, d
#define TRUNCATE A64; LOW(Y0, Y1, Y0); LOW(Y2, Y3, Y1); LOW(Y4, Y5, Y2); LOW(Y6, Y7, Y3)

// CHOOSE takes a where the predicate c is set and b where not.
#define CHOOSE32(y, at) \
	LANES8(DX, Y4) \
	VMOVDQU at(DI)(BX*1), Y5 \
	VPBLENDVB Y4, y, Y5, y
#define CHOOSE64(y, at) \
	LANES4(DX, Y8) \
	VPAND Y8, y, y \
	VPANDN at(DI)(BX*1), Y8, Y8 \
	VPOR Y8, y, y
#define CHOSEN B; C; MOVL (R8)(DX*1), DX
#define SELECT32 A32; CHOSEN; CHOOSE32(Y0, 0); CHOOSE32(Y1, 32); CHOOSE32(Y2, 64); CHOOSE32(Y3, 96)
#define SELECT64 A64; CHOSEN; CHOOSE64(Y0, 0); CHOOSE64(Y1, 32); CHOOSE64(Y2, 64); CHOOSE64(Y3, 96); \
	CHOOSE64(Y4, 128); CHOOSE64(Y5, 160); CHOOSE64(Y6, 192); CHOOSE64(Y7, 224)

// Comparisons of one vector leave all ones in Y0; BITS collects them.
#define BITS(COMPARE1, MOVE, from, bits) \
	COMPARE1(from) \
	MOVE Y0, DX \
	SHLL $bits, DX \
	ORL DX, R12
#define COMPARE32(COMPARE1) \
	MOVL Step_A(SI), AX; B; XORL R12, R12 \
	BITS(COMPARE1, VMOVMSKPS, 0, 0) \
	BITS(COMPARE1, VMOVMSKPS, 32, 8) \
	BITS(COMPARE1, VMOVMSKPS, 64, 16) \
	BITS(COMPARE1, VMOVMSKPS, 96, 24) \
	MOVL R12, AX
#define COMPARE64(COMPARE1) \
	MOVL Step_A(SI), AX; B; XORL R12, R12 \
	BITS(COMPARE1, VMOVMSKPD, 0, 0) \
	BITS(COMPARE1, VMOVMSKPD, 32, 4) \
	BITS(COMPARE1, VMOVMSKPD, 64, 8) \
	BITS(COMPARE1, VMOVMSKPD, 96, 12) \
	BITS(COMPARE1, VMOVMSKPD, 128, 16) \
	BITS(COMPARE1, VMOVMSKPD, 160, 20) \
	BITS(COMPARE1, VMOVMSKPD, 192, 24) \
	BITS(COMPARE1, VMOVMSKPD, 224, 28) \
	MOVL R12, AX
#define EQUAL32(at) VMOVDQU at(DI)(AX*1), Y0; VPCMPEQD at(DI)(BX*1), Y0, Y0
#define EQUAL64(at) VMOVDQU at(DI)(AX*1), Y0; VPCMPEQQ at(DI)(BX*1), Y0, Y0
#define LESS32(at) VMOVDQU at(DI)(BX*1), Y0; VPCMPGTD at(DI)(AX*1), Y0, Y0
#define LESS64(at) VMOVDQU at(DI)(BX*1), Y0; VPCMPGTQ at(DI)(AX*1), Y0, Y0
#define BELOW32(at) VPXOR at(DI)(BX*1), Y11, Y0; VPXOR at(DI)(AX*1), Y11, Y1; VPCMPGTD Y1, Y0, Y0
#define BELOW64(at) VPXOR at(DI)(BX*1), Y12, Y0; VPXOR at(DI)(AX*1), Y12, Y1; VPCMPGTQ Y1, Y0, Y0
#define EQUALF32(at) VMOVUPS at(DI)(AX*1), Y0; VCMPPS $0, at(DI)(BX*1), Y0, Y0
#define LESSF32(at) VMOVUPS at(DI)(AX*1), Y0; VCMPPS $17, at(DI)(BX*1), Y0, Y0
#define LESSEQUALF32(at) VMOVUPS at(DI)(AX*1), Y0; VCMPPS $18, at(DI)(BX*1), Y0, Y0
#define UNEQUALF32(at) VMOVUPS at(DI)(AX*1), Y0; VCMPPS $12, at(DI)(BX*1), Y0, Y0
#define NUMBERF32(at) VMOVUPS at(DI)(AX*1), Y0; VCMPPS $7, at(DI)(BX*1), Y0, Y0

// QUOTIENT divides integers below 2^23 through float32, which rounds to an integer only
// if the quotient is one. It leaves others, and a divisor of zero, to Go.
#define QUOTIENT \
	A32; B \
	LOAD32(BX, Y4, Y5, Y6, Y7) \
	VPXOR Y8, Y8, Y8 \
	VPMINUD Y5, Y4, Y15 \
	VPMINUD Y6, Y15, Y15 \
	VPMINUD Y7, Y15, Y15 \
	VPCMPEQD Y15, Y8, Y15 \
	VPTEST Y15, Y15 \
	JNE hard \
	VPOR Y1, Y0, Y15 \
	VPOR Y2, Y15, Y15 \
	VPOR Y3, Y15, Y15 \
	VPOR Y4, Y15, Y15 \
	VPOR Y5, Y15, Y15 \
	VPOR Y6, Y15, Y15 \
	VPOR Y7, Y15, Y15 \
	VPSRLD $23, Y15, Y15 \
	VPTEST Y15, Y15 \
	JEQ easy \
hard: \
	LEFT \
easy: \
	DIVIDE(Y4, Y0) \
	DIVIDE(Y5, Y1) \
	DIVIDE(Y6, Y2) \
	DIVIDE(Y7, Y3)
#define DIVIDE(by, y) \
	VCVTDQ2PS by, by \
	VCVTDQ2PS y, y \
	VDIVPS by, y, y \
	VCVTTPS2DQ y, y
#define REST(y, at) \
	VPMULLD at(DI)(BX*1), y, y \
	VMOVDQU at(DI)(AX*1), Y4 \
	VPSUBD y, Y4, y
#define REMAINDER \
	QUOTIENT \
	MOVL Step_A(SI), AX \
	B \
	REST(Y0, 0) \
	REST(Y1, 32) \
	REST(Y2, 64) \
	REST(Y3, 96)

// ROW runs products with the same first source, which stays in registers. Whether any
// result is NaN is found once, at the end of the row.
#define ROW \
	A32 \
	PRODUCTS \
	VPXOR Y8, Y8, Y8 \
another: \
	B; C \
	LOAD32(DX, Y4, Y5, Y6, Y7) \
	VFMADD231PS (DI)(BX*1), Y0, Y4 \
	VFMADD231PS 32(DI)(BX*1), Y1, Y5 \
	VFMADD231PS 64(DI)(BX*1), Y2, Y6 \
	VFMADD231PS 96(DI)(BX*1), Y3, Y7 \
	VCMPPS $3, Y5, Y4, Y15 \
	VORPS Y15, Y8, Y8 \
	VCMPPS $3, Y7, Y6, Y15 \
	VORPS Y15, Y8, Y8 \
	MOVL Step_D(SI), DX \
	VMOVDQU Y4, (DI)(DX*1) \
	VMOVDQU Y5, 32(DI)(DX*1) \
	VMOVDQU Y6, 64(DI)(DX*1) \
	VMOVDQU Y7, 96(DI)(DX*1) \
	ADDQ $Step__size, SI \
	DECQ R12 \
	JNE another \
	VTESTPS Y8, Y8 \
	JEQ numbers \
	CANONICALS \
numbers: \
	ROWEND
#define CANONICAL32 \
	LOAD32(DX, Y0, Y1, Y2, Y3) \
	CANONICAL1(Y0) \
	CANONICAL1(Y1) \
	CANONICAL1(Y2) \
	CANONICAL1(Y3) \
	STORE32

// These take too many instructions here.
#define FLOATU32 LEFT
#define SIGNED64 LEFT
#define PRODUCT64 LEFT

// Loads and stores. DIFFER leaves in BX the lanes of the addresses there that are not at
// the distances of the pattern from the first.
#define FIRST32(at, lane) VPBROADCASTD (at)(lane*4), Y0
#define FIRST64(at, lane) VPBROADCASTQ (at)(lane*8), Y0
#define SAME32(at, y) \
	VMOVDQU at(BX), y \
	VPSUBD Y0, y, y \
	VPCMPEQD Pattern_Delta+at(R15), y, y
#define DIFFER32 \
	SAME32(0, Y1) \
	SAME32(32, Y2) \
	SAME32(64, Y3) \
	SAME32(96, Y4) \
	VPACKSSDW Y2, Y1, Y1 \
	VPACKSSDW Y4, Y3, Y3 \
	VPACKSSWB Y3, Y1, Y1 \
	VMOVDQU narrowed<>(SB), Y2 \
	VPERMD Y1, Y2, Y1 \
	VPMOVMSKB Y1, BX \
	NOTL BX
#define SAME64(at, y) \
	VPMOVSXDQ Pattern_Delta+at(R15), Y15 \
	VMOVDQU 2*at(BX), y \
	VPSUBQ Y0, y, y \
	VPCMPEQQ Y15, y, y
#define DIFFER64 \
	SAME64(0, Y1) \
	SAME64(16, Y2) \
	SAME64(32, Y3) \
	SAME64(48, Y4) \
	SAME64(64, Y5) \
	SAME64(80, Y6) \
	SAME64(96, Y7) \
	SAME64(112, Y8) \
	VSHUFPS $0x88, Y2, Y1, Y1 \
	VSHUFPS $0x88, Y4, Y3, Y3 \
	VSHUFPS $0x88, Y6, Y5, Y5 \
	VSHUFPS $0x88, Y8, Y7, Y7 \
	VPACKSSDW Y3, Y1, Y1 \
	VPACKSSDW Y7, Y5, Y5 \
	VPACKSSWB Y5, Y1, Y1 \
	VEXTRACTI128 $1, Y1, X2 \
	VPUNPCKHWD X2, X1, X3 \
	VPUNPCKLWD X2, X1, X1 \
	VINSERTI128 $1, X3, Y1, Y1 \
	VPMOVMSKB Y1, BX \
	NOTL BX

#define ROW4(from, to) \
	VMOVDQU (from), Y0 \
	VMOVDQU 32(from), Y1 \
	VMOVDQU 64(from), Y2 \
	VMOVDQU 96(from), Y3 \
	VMOVDQU Y0, (to) \
	VMOVDQU Y1, 32(to) \
	VMOVDQU Y2, 64(to) \
	VMOVDQU Y3, 96(to)
#define LOADUNIT ROW4(DX, BX)
#define STOREUNIT ROW4(BX, DX)
#define LOADSOME1(at) \
	LANES8(R13, Y4) \
	VPMASKMOVD at(DX), Y4, Y0 \
	VMOVDQU at(BX), Y5 \
	VPBLENDVB Y4, Y0, Y5, Y5 \
	VMOVDQU Y5, at(BX)
#define LOADSOME LOADSOME1(0); LOADSOME1(32); LOADSOME1(64); LOADSOME1(96)
#define GATHER1(at) \
	LANES8(R13, Y4) \
	VMOVDQU Pattern_Delta+at(R15), Y5 \
	VMOVDQU at(BX), Y0 \
	VPGATHERDD Y4, (DX)(Y5*1), Y0 \
	VMOVDQU Y0, at(BX)
#define GATHER MOVL Pattern_Mask(R15), R13; GATHER1(0); GATHER1(32); GATHER1(64); GATHER1(96)
#define BROADCAST \
	VPBROADCASTD (DX), Y0 \
	VMOVDQU Y0, (BX) \
	VMOVDQU Y0, 32(BX) \
	VMOVDQU Y0, 64(BX) \
	VMOVDQU Y0, 96(BX)

// LOAD8 loads four words for 8 lanes.
#define LOAD8(at) \
	LOADPAIR(at, X0, Y0) \
	LOADPAIR(at+4, X1, Y1) \
	LOADPAIR(at+8, X2, Y2) \
	LOADPAIR(at+12, X3, Y3) \
	TRANSPOSE8 \
	KEEP8(at)
#define KEEP8(at) \
	VMOVDQU Y0, at(DI)(BX*1) \
	VMOVDQU Y1, at(DI)(R10*1) \
	VMOVDQU Y2, at(DI)(R13*1) \
	VMOVDQU Y3, at(DI)(R14*1)
#define LOADQUADS LOAD8(0); LOAD8(32); LOAD8(64); LOAD8(96)
#define LOADTWICE LOAD8(0); KEEP8(64); LOAD8(32); KEEP8(96)
#define HALVES(at, slot) \
	VPBROADCASTD at(DX), Y0 \
	VPBROADCASTD at(DX)(AX*1), Y1 \
	VMOVDQU Y0, (DI)(slot*1) \
	VMOVDQU Y0, 32(DI)(slot*1) \
	VMOVDQU Y1, 64(DI)(slot*1) \
	VMOVDQU Y1, 96(DI)(slot*1)

// A masked store takes longer than one by one.
#define SCATTER \
	MOVL Pattern_Mask(R15), R13 \
lane: \
	TZCNTL R13, AX \
	MOVL (BX)(AX*4), R10 \
	MOVLQSX Pattern_Delta(R15)(AX*4), AX \
	MOVL R10, (DX)(AX*1) \
	BLSRL R13, R13 \
	JNE lane
#define STORESOME SCATTER

// A shuffle of all lanes. EIGHT leaves in y what 8 of them read.
#define EIGHT(at, SOURCE, OUTSIDE, y) \
	SEGMENT8(at) \
	SOURCE \
	OUTSIDE \
	VPBLENDVB Y5, Y15, Y0, Y0 \
	VMOVDQU Y13, Y4 \
	VPGATHERDD Y4, (R12)(Y0*4), y
#define EXCHANGE(SOURCE, OUTSIDE) \
	EIGHT(0, SOURCE, OUTSIDE, Y6) \
	EIGHT(32, SOURCE, OUTSIDE, Y7) \
	EIGHT(64, SOURCE, OUTSIDE, Y8) \
	EIGHT(96, SOURCE, OUTSIDE, Y1) \
	MOVL Step_D(SI), DX \
	VMOVDQU Y6, (DI)(DX*1) \
	VMOVDQU Y7, 32(DI)(DX*1) \
	VMOVDQU Y8, 64(DI)(DX*1) \
	VMOVDQU Y1, 96(DI)(DX*1)
#define SHUFFLEDOWN EXCHANGE(DOWN8, ABOVE)
#define SHUFFLEUP EXCHANGE(UP8, BELOW)
#define SHUFFLEBUTTERFLY EXCHANGE(BUTTERFLY8, ABOVE)
#define SHUFFLEINDEX EXCHANGE(INDEX8, ABOVE)

#include "vector_ops_amd64.h"

// func runAVX2(r *Run)
TEXT ·runAVX2(SB), NOSPLIT, $0-8
	ENTER
	VMOVDQU lanes4<>(SB), Y9
	VMOVDQU lanes8<>(SB), Y10
	VPCMPEQD Y13, Y13, Y13
	VPSLLD $31, Y13, Y11
	VPSLLQ $63, Y13, Y12
	VPSRLD $1, Y13, Y14
	START
