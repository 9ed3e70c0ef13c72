#include "go_asm.h"
#include "textflag.h"
#include "shuffle_amd64.h"

// shfl with AVX-512, 16 lanes at a time.
//
// Z4 is all 16, Z10 and Z11 are the lanes of a, Z12 the lanes that take part,
// Z13 is all 31, Z14 all 1, Z15 the numbers of 16 lanes.

// READ gives the lanes in the lowest 16 bits of CX what they read and shifts
// CX; those whose source is OUTSIDE keep their own and are in K1.
#define READ(at, OUTSIDE) \
	VPCMPD $OUTSIDE, Z2, Z0, K1 \
	VMOVDQA32 Z15, K1, Z0 \
	VPSRLVD Z0, Z12, Z3 \
	VPTESTNMD Z14, Z3, K2 \
	VPERMI2D Z11, Z10, Z0 \
	VPTERNLOGD $0xff, Z0, Z0, K2, Z0 \
	KMOVW CX, K3 \
	SHRL $16, CX \
	VMOVDQU32 at(DI), Z3 \
	VMOVDQA32 Z0, K3, Z3 \
	VMOVDQU32 Z3, at(DI)

#define SHUFFLE(SOURCE, OUTSIDE) \
	SEGMENT(0) \
	SOURCE \
	READ(0, OUTSIDE) \
	KMOVW K1, AX \
	VPADDD Z4, Z15, Z15 \
	SEGMENT(64) \
	SOURCE \
	READ(64, OUTSIDE) \
	KMOVW K1, BX \
	SHLL $16, BX \
	ORL BX, AX \
	NOTL AX \
	MOVL AX, ret+40(FP) \
	VZEROUPPER \
	RET

// func shuffle512(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32)
TEXT ·shuffle512(SB), NOSPLIT, $0-44
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), BX
	MOVQ c+24(FP), DX
	MOVL m+32(FP), CX
	MOVBLZX mode+36(FP), AX
	VMOVDQU32 (SI), Z10
	VMOVDQU32 64(SI), Z11
	VPBROADCASTD CX, Z12
	VMOVDQU32 numbers<>(SB), Z15
	VPTERNLOGD $0xff, Z14, Z14, Z14
	VPSRLD $28, Z14, Z4
	VPSRLD $27, Z14, Z13
	VPSRLD $31, Z14, Z14
	VPADDD Z14, Z4, Z4
	CMPL AX, $const_ShuffleUp
	JEQ up
	JB down
	CMPL AX, $const_ShuffleButterfly
	JEQ butterfly
	SHUFFLE(INDEX, 6)
down:
	SHUFFLE(DOWN, 6)
up:
	SHUFFLE(UP, 1)
butterfly:
	SHUFFLE(BUTTERFLY, 6)

// shfl with AVX2, 8 lanes at a time.
//
// Y7 to Y10 are the results, Y11 the bits of 8 lanes, Y12 the lanes that take part, Y14 is
// all ones; R8 are the lanes outside of their segments.

DATA bits8<>+0(SB)/8, $0x0000000200000001
DATA bits8<>+8(SB)/8, $0x0000000800000004
DATA bits8<>+16(SB)/8, $0x0000002000000010
DATA bits8<>+24(SB)/8, $0x0000008000000040
GLOBL bits8<>(SB), RODATA, $32

// READ8 puts into y what 8 lanes read.
#define READ8(bits, OUTSIDE, y) \
	OUTSIDE \
	VMOVMSKPS Y5, AX \
	SHLL $bits, AX \
	ORL AX, R8 \
	VPBLENDVB Y5, Y15, Y0, Y0 \
	VPSRLVD Y0, Y12, Y3 \
	VPSLLD $31, Y3, Y3 \
	VPSRAD $31, Y3, Y3 \
	VPXOR Y14, Y3, Y3 \
	VMOVDQU Y14, Y4 \
	VPGATHERDD Y4, (SI)(Y0*4), y \
	VPOR Y3, y, y

// KEEP8 stores the results of the lowest 8 lanes of CX, and drops these.
#define KEEP8(at, y) \
	VMOVD CX, X0 \
	VPBROADCASTD X0, Y0 \
	VPAND Y11, Y0, Y0 \
	VPCMPEQD Y11, Y0, Y0 \
	SHRL $8, CX \
	VMOVDQU at(DI), Y1 \
	VPBLENDVB Y0, y, Y1, Y1 \
	VMOVDQU Y1, at(DI)

#define SHUFFLE8(SOURCE, OUTSIDE) \
	SEGMENT8(0); SOURCE; READ8(0, OUTSIDE, Y7) \
	SEGMENT8(32); SOURCE; READ8(8, OUTSIDE, Y8) \
	SEGMENT8(64); SOURCE; READ8(16, OUTSIDE, Y9) \
	SEGMENT8(96); SOURCE; READ8(24, OUTSIDE, Y10)

// func shuffle256(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32)
TEXT ·shuffle256(SB), NOSPLIT, $0-44
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), BX
	MOVQ c+24(FP), DX
	MOVL m+32(FP), CX
	MOVBLZX mode+36(FP), AX
	XORL R8, R8
	VMOVDQU bits8<>(SB), Y11
	VMOVD CX, X12
	VPBROADCASTD X12, Y12
	VPCMPEQD Y14, Y14, Y14
	CMPL AX, $const_ShuffleUp
	JEQ up
	JB down
	CMPL AX, $const_ShuffleButterfly
	JEQ butterfly
	SHUFFLE8(INDEX8, ABOVE)
	JMP keep
down:
	SHUFFLE8(DOWN8, ABOVE)
	JMP keep
up:
	SHUFFLE8(UP8, BELOW)
	JMP keep
butterfly:
	SHUFFLE8(BUTTERFLY8, ABOVE)
keep:
	KEEP8(0, Y7)
	KEEP8(32, Y8)
	KEEP8(64, Y9)
	KEEP8(96, Y10)
	NOTL R8
	MOVL R8, valid+40(FP)
	VZEROUPPER
	RET
