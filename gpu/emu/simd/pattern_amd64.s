#include "go_asm.h"
#include "textflag.h"

// Moves between 32 lanes and memory with AVX-512. Lanes that are not in the
// mask neither read nor write, wherever their addresses point.

#define MASKS(from) \
	KMOVD from, K1 \
	KSHIFTRD $16, K1, K2

// MATCH leaves in AX the lanes whose addresses at SI are not at the distances at
// DI from that in Z0; MATCHWIDE is that of 64-bit addresses.
#define MATCH \
	VMOVDQU32 (SI), Z1 \
	VMOVDQU32 64(SI), Z2 \
	VPSUBD Z0, Z1, Z1 \
	VPSUBD Z0, Z2, Z2 \
	VPCMPD $4, (DI), Z1, K1 \
	VPCMPD $4, 64(DI), Z2, K2 \
	KUNPCKWD K1, K2, K1 \
	KMOVD K1, AX
#define MATCHWIDE \
	VMOVDQU64 (SI), Z1 \
	VMOVDQU64 64(SI), Z2 \
	VMOVDQU64 128(SI), Z3 \
	VMOVDQU64 192(SI), Z4 \
	VPSUBQ Z0, Z1, Z1 \
	VPSUBQ Z0, Z2, Z2 \
	VPSUBQ Z0, Z3, Z3 \
	VPSUBQ Z0, Z4, Z4 \
	VPMOVSXDQ (DI), Z5 \
	VPMOVSXDQ 32(DI), Z6 \
	VPMOVSXDQ 64(DI), Z7 \
	VPMOVSXDQ 96(DI), Z8 \
	VPCMPQ $4, Z5, Z1, K1 \
	VPCMPQ $4, Z6, Z2, K2 \
	VPCMPQ $4, Z7, Z3, K3 \
	VPCMPQ $4, Z8, Z4, K4 \
	KUNPCKBW K1, K2, K1 \
	KUNPCKBW K3, K4, K3 \
	KUNPCKWD K1, K3, K1 \
	KMOVD K1, AX

// func match512(a *[32]uint32, first uint32, delta *[32]int32, m uint32) bool
TEXT ·match512(SB), NOSPLIT, $0-33
	MOVQ a+0(FP), SI
	MOVL first+8(FP), AX
	VPBROADCASTD AX, Z0
	MOVQ delta+16(FP), DI
	MOVL m+24(FP), BX
	MATCH
	TESTL BX, AX
	SETEQ ret+32(FP)
	VZEROUPPER
	RET

// func matchWide512(a *[32]uint64, first uint64, delta *[32]int32, m uint32) bool
TEXT ·matchWide512(SB), NOSPLIT, $0-33
	MOVQ a+0(FP), SI
	MOVQ first+8(FP), AX
	VPBROADCASTQ AX, Z0
	MOVQ delta+16(FP), DI
	MOVL m+24(FP), BX
	MATCHWIDE
	TESTL BX, AX
	SETEQ ret+32(FP)
	VZEROUPPER
	RET

// LANE0 moves base from the lowest lane of CX to lane 0.
#define LANE0(base) \
	TZCNTL CX, DX \
	SHLQ $2, DX \
	SUBQ DX, base

// func prefetch(at, bytes uintptr)
TEXT ·Prefetch(SB), NOSPLIT, $0-16
	MOVQ at+0(FP), SI
	MOVQ bytes+8(FP), CX
line:
	PREFETCHT0 (SI)
	ADDQ $64, SI
	SUBQ $64, CX
	JHI line
	RET

// func written512(first *uint32, words *[32]int32, bits *[32]uint32) bool
TEXT ·written512(SB), NOSPLIT, $0-25
	MOVQ first+0(FP), SI
	MOVQ words+8(FP), DX
	MOVQ bits+16(FP), DI
	KXNORW K1, K1, K1
	KXNORW K2, K2, K2
	VMOVDQU32 (DX), Z0
	VMOVDQU32 64(DX), Z1
	VPGATHERDD (SI)(Z0*4), K1, Z2
	VPGATHERDD (SI)(Z1*4), K2, Z3
	VPANDND (DI), Z2, Z2
	VPANDND 64(DI), Z3, Z3
	VPORD Z2, Z3, Z3
	VPTESTMD Z3, Z3, K1
	KMOVW K1, AX
	TESTL AX, AX
	SETEQ ret+24(FP)
	VZEROUPPER
	RET

// func loadUnit512(d *[32]uint32, base unsafe.Pointer, m uint32)
TEXT ·loadUnit512(SB), NOSPLIT, $0-20
	MOVQ d+0(FP), DI
	MOVQ base+8(FP), SI
	MOVL m+16(FP), CX
	LANE0(SI)
	MASKS(CX)
	VMOVDQU32 (DI), Z0
	VMOVDQU32 64(DI), Z1
	VMOVDQU32 (SI), K1, Z0
	VMOVDQU32 64(SI), K2, Z1
	VMOVDQU32 Z0, (DI)
	VMOVDQU32 Z1, 64(DI)
	VZEROUPPER
	RET

// func storeUnit512(s *[32]uint32, base unsafe.Pointer, m uint32)
TEXT ·storeUnit512(SB), NOSPLIT, $0-20
	MOVQ s+0(FP), SI
	MOVQ base+8(FP), DI
	MOVL m+16(FP), CX
	LANE0(DI)
	VMOVDQU32 (SI), Z0
	VMOVDQU32 64(SI), Z1
	CMPL CX, $-1
	JEQ whole
	MASKS(CX)
	VMOVDQU32 Z0, K1, (DI)
	VMOVDQU32 Z1, K2, 64(DI)
	VZEROUPPER
	RET
whole: // a load can take its data from this store before it is in the cache
	VMOVDQU32 Z0, (DI)
	VMOVDQU32 Z1, 64(DI)
	VZEROUPPER
	RET

// func gather512(d *[32]uint32, base unsafe.Pointer, delta *[32]int32, m uint32)
TEXT ·gather512(SB), NOSPLIT, $0-28
	MOVQ d+0(FP), DI
	MOVQ base+8(FP), SI
	MOVQ delta+16(FP), DX
	MOVL m+24(FP), CX
	MASKS(CX)
	VMOVDQU32 (DX), Z2
	VMOVDQU32 64(DX), Z3
	VMOVDQU32 (DI), Z0
	VMOVDQU32 64(DI), Z1
	VPGATHERDD (SI)(Z2*1), K1, Z0
	VPGATHERDD (SI)(Z3*1), K2, Z1
	VMOVDQU32 Z0, (DI)
	VMOVDQU32 Z1, 64(DI)
	VZEROUPPER
	RET

// func scatter512(s *[32]uint32, base unsafe.Pointer, delta *[32]int32, m uint32)
TEXT ·scatter512(SB), NOSPLIT, $0-28
	MOVQ s+0(FP), SI
	MOVQ base+8(FP), DI
	MOVQ delta+16(FP), DX
	MOVL m+24(FP), CX
	MASKS(CX)
	VMOVDQU32 (DX), Z2
	VMOVDQU32 64(DX), Z3
	VMOVDQU32 (SI), Z0
	VMOVDQU32 64(SI), Z1
	VPSCATTERDD Z0, K1, (DI)(Z2*1)
	VPSCATTERDD Z1, K2, (DI)(Z3*1)
	VZEROUPPER
	RET

// FOUR puts the 16 bytes of lanes i, i+4, i+8 and i+12 into z, whose X part is x.
#define FOUR(i, x, y, z) \
	MOVLQSX 4*i(DX), R8 \
	MOVLQSX 4*i+16(DX), R9 \
	MOVLQSX 4*i+32(DX), R10 \
	MOVLQSX 4*i+48(DX), R11 \
	VMOVDQU (SI)(R8*1), x \
	VINSERTI128 $1, (SI)(R9*1), y, y \
	VINSERTI32X4 $2, (SI)(R10*1), z, z \
	VINSERTI32X4 $3, (SI)(R11*1), z, z

// SIXTEEN loads four words for each of 16 lanes, and transposes them.
#define SIXTEEN(at) \
	FOUR(0, X0, Y0, Z0) \
	FOUR(1, X1, Y1, Z1) \
	FOUR(2, X2, Y2, Z2) \
	FOUR(3, X3, Y3, Z3) \
	VPUNPCKLDQ Z1, Z0, Z4 \
	VPUNPCKHDQ Z1, Z0, Z5 \
	VPUNPCKLDQ Z3, Z2, Z6 \
	VPUNPCKHDQ Z3, Z2, Z7 \
	VPUNPCKLQDQ Z6, Z4, Z0 \
	VPUNPCKHQDQ Z6, Z4, Z1 \
	VPUNPCKLQDQ Z7, Z5, Z2 \
	VPUNPCKHQDQ Z7, Z5, Z3 \
	VMOVDQU32 Z0, at(DI)(AX*1) \
	VMOVDQU32 Z1, at(DI)(BX*1) \
	VMOVDQU32 Z2, at(DI)(CX*1) \
	VMOVDQU32 Z3, at(DI)(R12*1)

// QUADS loads four words for every lane into the four slots at R12.
#define QUADS \
	MOVL (R12), AX \
	MOVL 4(R12), BX \
	MOVL 8(R12), CX \
	MOVL 12(R12), R12 \
	SIXTEEN(0) \
	ADDQ $64, DX \
	SIXTEEN(64)

// func loadQuads512(slots unsafe.Pointer, regs *[4]uint32, base unsafe.Pointer, delta *[32]int32)
TEXT ·loadQuads512(SB), NOSPLIT, $0-32
	MOVQ slots+0(FP), DI
	MOVQ regs+8(FP), R12
	MOVQ base+16(FP), SI
	MOVQ delta+24(FP), DX
	QUADS
	VZEROUPPER
	RET
