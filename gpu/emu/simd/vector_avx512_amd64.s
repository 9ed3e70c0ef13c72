#include "vector_amd64.h"
#include "shuffle_amd64.h"

// Vector operations on 32 lanes with AVX-512. Z31 is the NaN of f32 results;
// a 32-bit result is in Z0 and Z1, one of 64 bits in Z0 to Z3.

#define STORE32 \
	VMOVDQU32 Z0, (DI)(DX*1) \
	VMOVDQU32 Z1, 64(DI)(DX*1)
#define MERGE32 \
	VMOVDQU32 (DI)(DX*1), Z2 \
	VMOVDQU32 64(DI)(DX*1), Z3 \
	KMOVD AX, K1 \
	SHRL $16, AX \
	KMOVD AX, K2 \
	VMOVDQA32 Z0, K1, Z2 \
	VMOVDQA32 Z1, K2, Z3 \
	VMOVDQU32 Z2, (DI)(DX*1) \
	VMOVDQU32 Z3, 64(DI)(DX*1)
#define STORE64 \
	STORE32 \
	VMOVDQU64 Z2, 128(DI)(DX*1) \
	VMOVDQU64 Z3, 192(DI)(DX*1)
#define MERGE64 KEEP64(Z0, 0); KEEP64(Z1, 64); KEEP64(Z2, 128); KEEP64(Z3, 192)

// KEEP64 stores 8 lanes, those of the lowest 8 bits of AX, and drops these.
#define KEEP64(z, at) \
	VMOVDQU64 at(DI)(DX*1), Z4 \
	KMOVD AX, K1 \
	SHRL $8, AX \
	VMOVDQA64 z, K1, Z4 \
	VMOVDQU64 Z4, at(DI)(DX*1)

// Sources.
#define A32 \
	MOVL Step_A(SI), AX \
	VMOVDQU32 (DI)(AX*1), Z0 \
	VMOVDQU32 64(DI)(AX*1), Z1
#define A64 \
	MOVL Step_A(SI), AX \
	VMOVDQU64 (DI)(AX*1), Z0 \
	VMOVDQU64 64(DI)(AX*1), Z1 \
	VMOVDQU64 128(DI)(AX*1), Z2 \
	VMOVDQU64 192(DI)(AX*1), Z3

// Shapes of operations: with two sources, and with those of 64 bits.
#define BOTH32(INS) A32; B; INS (DI)(BX*1), Z0, Z0; INS 64(DI)(BX*1), Z1, Z1
#define BOTH64(INS) A64; B; INS (DI)(BX*1), Z0, Z0; INS 64(DI)(BX*1), Z1, Z1; INS 128(DI)(BX*1), Z2, Z2; INS 192(DI)(BX*1), Z3, Z3
#define PLUS32 C; VPADDD (DI)(DX*1), Z0, Z0; VPADDD 64(DI)(DX*1), Z1, Z1
#define PLUS64 C; VPADDQ (DI)(DX*1), Z0, Z0; VPADDQ 64(DI)(DX*1), Z1, Z1; VPADDQ 128(DI)(DX*1), Z2, Z2; VPADDQ 192(DI)(DX*1), Z3, Z3
#define VAND VPANDD
#define VOR VPORD
#define VXOR VPXORD
#define PRODUCT64 BOTH64(VPMULLQ)
#define INVERT32 VPTERNLOGD $0x55, Z0, Z0, Z0; VPTERNLOGD $0x55, Z1, Z1, Z1
#define INVERT64 INVERT32; VPTERNLOGD $0x55, Z2, Z2, Z2; VPTERNLOGD $0x55, Z3, Z3, Z3

// Every NaN result is the same one. One comparison finds whether there is any.
#define CANONICAL \
	VCMPPS $3, Z1, Z0, K1 \
	KORTESTW K1, K1 \
	JEQ numbers \
	VCMPPS $3, Z0, Z0, K1 \
	VCMPPS $3, Z1, Z1, K2 \
	VMOVDQA32 Z31, K1, Z0 \
	VMOVDQA32 Z31, K2, Z1 \
numbers:

#define FUSED \
	A32; B; C \
	VMOVDQU32 (DI)(BX*1), Z2 \
	VMOVDQU32 64(DI)(BX*1), Z3 \
	VFMADD213PS (DI)(DX*1), Z2, Z0 \
	VFMADD213PS 64(DI)(DX*1), Z3, Z1 \
	CANONICAL

// ROW runs products with the same first source, which stays in registers. Whether any
// result is NaN is found once, at the end of the row.
#define ROW \
	A32 \
	PRODUCTS \
	KXORW K3, K3, K3 \
another: \
	B; C \
	VMOVDQU32 (DI)(DX*1), Z2 \
	VMOVDQU32 64(DI)(DX*1), Z3 \
	VFMADD231PS (DI)(BX*1), Z0, Z2 \
	VFMADD231PS 64(DI)(BX*1), Z1, Z3 \
	VCMPPS $3, Z3, Z2, K1 \
	KORW K1, K3, K3 \
	MOVL Step_D(SI), DX \
	VMOVDQU32 Z2, (DI)(DX*1) \
	VMOVDQU32 Z3, 64(DI)(DX*1) \
	ADDQ $Step__size, SI \
	DECQ R12 \
	JNE another \
	KORTESTW K3, K3 \
	JEQ numbers \
	CANONICALS \
numbers: \
	ROWEND
#define CANONICAL32 \
	VMOVDQU32 (DI)(DX*1), Z0 \
	VMOVDQU32 64(DI)(DX*1), Z1 \
	VCMPPS $3, Z0, Z0, K1 \
	VCMPPS $3, Z1, Z1, K2 \
	VMOVDQA32 Z31, K1, Z0 \
	VMOVDQA32 Z31, K2, Z1 \
	STORE32

// WIDEN extends 32 values of 32 bits to 64.
#define WIDEN(EXTEND, field, z0, z1, z2, z3) \
	MOVL field(SI), AX \
	EXTEND (DI)(AX*1), z0 \
	EXTEND 32(DI)(AX*1), z1 \
	EXTEND 64(DI)(AX*1), z2 \
	EXTEND 96(DI)(AX*1), z3
#define WIDE(EXTEND, MULTIPLY) \
	EXTENDED(EXTEND) \
	WIDEN(EXTEND, Step_B, Z4, Z5, Z6, Z7) \
	MULTIPLY Z4, Z0, Z0 \
	MULTIPLY Z5, Z1, Z1 \
	MULTIPLY Z6, Z2, Z2 \
	MULTIPLY Z7, Z3, Z3
#define SHIFT64(INS) \
	A64 \
	WIDEN(VPMOVZXDQ, Step_B, Z4, Z5, Z6, Z7) \
	INS Z4, Z0, Z0 \
	INS Z5, Z1, Z1 \
	INS Z6, Z2, Z2 \
	INS Z7, Z3, Z3
#define SIGNED64 SHIFT64(VPSRAVQ)
#define EXTENDED(EXTEND) WIDEN(EXTEND, Step_A, Z0, Z1, Z2, Z3)

#define TRUNCATE \
	A64 \
	VPMOVQD Z0, Y0 \
	VPMOVQD Z1, Y1 \
	VPMOVQD Z2, Y2 \
	VPMOVQD Z3, Y3 \
	VINSERTI64X4 $1, Y1, Z0, Z0 \
	VINSERTI64X4 $1, Y3, Z2, Z1

// QUOTIENT divides through floats; it leaves a divisor of zero, which is a warning,
// to Go. The quotient of two 32-bit integers in float64 rounds to an integer only
// if it is one, and so does that of two integers below 2^23 in float32, which
// takes a quarter of the time.
#define QUOTIENT \
	A32 \
	B \
	VMOVDQU32 (DI)(BX*1), Z2 \
	VMOVDQU32 64(DI)(BX*1), Z3 \
	VPTESTNMD Z2, Z2, K1 \
	VPTESTNMD Z3, Z3, K2 \
	KORTESTW K1, K2 \
	JNE byZero \
	VPORD Z2, Z0, Z4 \
	VPORD Z3, Z1, Z5 \
	VPORD Z4, Z5, Z4 \
	VPSRLD $23, Z4, Z4 \
	VPTESTMD Z4, Z4, K1 \
	KORTESTW K1, K1 \
	JNE large \
	VCVTUDQ2PS Z0, Z0 \
	VCVTUDQ2PS Z1, Z1 \
	VCVTUDQ2PS Z2, Z2 \
	VCVTUDQ2PS Z3, Z3 \
	VDIVPS Z2, Z0, Z0 \
	VDIVPS Z3, Z1, Z1 \
	VCVTTPS2UDQ Z0, Z0 \
	VCVTTPS2UDQ Z1, Z1 \
	JMP divided \
byZero: \
	MOVQ CX, Run_N(R11) \
	LEAVE \
large: \
	EXTENDED(VCVTUDQ2PD) \
	WIDEN(VCVTUDQ2PD, Step_B, Z4, Z5, Z6, Z7) \
	VDIVPD Z4, Z0, Z0 \
	VDIVPD Z5, Z1, Z1 \
	VDIVPD Z6, Z2, Z2 \
	VDIVPD Z7, Z3, Z3 \
	VCVTTPD2UDQ Z0, Y0 \
	VCVTTPD2UDQ Z1, Y1 \
	VCVTTPD2UDQ Z2, Y2 \
	VCVTTPD2UDQ Z3, Y3 \
	VINSERTI64X4 $1, Y1, Z0, Z0 \
	VINSERTI64X4 $1, Y3, Z2, Z1 \
divided:
#define REST(z, at) \
	VMOVDQU32 at(DI)(BX*1), Z4 \
	VPMULLD Z4, z, z \
	VMOVDQU32 at(DI)(AX*1), Z5 \
	VPSUBD z, Z5, z
#define REMAINDER \
	QUOTIENT \
	MOVL Step_A(SI), AX \
	B \
	REST(Z0, 0) \
	REST(Z1, 64)

// CHOOSE takes a where the predicate c is set and b where not.
#define CHOSEN C; MOVL (R8)(DX*1), DX
#define CHOOSE64(z, at) \
	KMOVD DX, K1 \
	SHRL $8, DX \
	VMOVDQU64 at(DI)(BX*1), Z4 \
	VPBLENDMQ z, Z4, K1, z

// Comparisons of one vector leave their bits in a mask; they are collected.
#define COMPARE32(COMPARE1) \
	A32; B \
	COMPARE1(0, Z0, K1) \
	COMPARE1(64, Z1, K2) \
	KUNPCKWD K1, K2, K1 \
	KMOVD K1, AX
#define COMPARE64(COMPARE1) \
	A64; B \
	COMPARE1(0, Z0, K1) \
	COMPARE1(64, Z1, K2) \
	COMPARE1(128, Z2, K3) \
	COMPARE1(192, Z3, K4) \
	KUNPCKBW K1, K2, K1 \
	KUNPCKBW K3, K4, K3 \
	KUNPCKWD K1, K3, K1 \
	KMOVD K1, AX
#define EQUAL32(at, z, k) VPCMPD $0, at(DI)(BX*1), z, k
#define LESS32(at, z, k) VPCMPD $1, at(DI)(BX*1), z, k
#define BELOW32(at, z, k) VPCMPUD $1, at(DI)(BX*1), z, k
#define EQUAL64(at, z, k) VPCMPQ $0, at(DI)(BX*1), z, k
#define LESS64(at, z, k) VPCMPQ $1, at(DI)(BX*1), z, k
#define BELOW64(at, z, k) VPCMPUQ $1, at(DI)(BX*1), z, k
#define EQUALF32(at, z, k) VCMPPS $0, at(DI)(BX*1), z, k
#define LESSF32(at, z, k) VCMPPS $17, at(DI)(BX*1), z, k
#define LESSEQUALF32(at, z, k) VCMPPS $18, at(DI)(BX*1), z, k
#define UNEQUALF32(at, z, k) VCMPPS $12, at(DI)(BX*1), z, k
#define NUMBERF32(at, z, k) VCMPPS $7, at(DI)(BX*1), z, k

#define SELECT32 A32; B; CHOSEN; KMOVD DX, K1; SHRL $16, DX; KMOVD DX, K2; \
	VMOVDQU32 (DI)(BX*1), Z2; VMOVDQU32 64(DI)(BX*1), Z3; VPBLENDMD Z0, Z2, K1, Z0; VPBLENDMD Z1, Z3, K2, Z1
#define SELECT64 A64; B; CHOSEN; CHOOSE64(Z0, 0); CHOOSE64(Z1, 64); CHOOSE64(Z2, 128); CHOOSE64(Z3, 192)
#define FLOATS32 A32; VCVTDQ2PS Z0, Z0; VCVTDQ2PS Z1, Z1
#define FLOATU32 A32; VCVTUDQ2PS Z0, Z0; VCVTUDQ2PS Z1, Z1

// Loads and stores. DIFFER leaves in BX the lanes of the addresses there that are not at
// the distances of the pattern from the first.
#define FIRST32(at, lane) VPBROADCASTD (at)(lane*4), Z0
#define FIRST64(at, lane) VPBROADCASTQ (at)(lane*8), Z0
#define DIFFER32 \
	VMOVDQU32 (BX), Z1 \
	VMOVDQU32 64(BX), Z2 \
	VPSUBD Z0, Z1, Z1 \
	VPSUBD Z0, Z2, Z2 \
	VPCMPD $4, Pattern_Delta(R15), Z1, K1 \
	VPCMPD $4, Pattern_Delta+64(R15), Z2, K2 \
	KUNPCKWD K1, K2, K1 \
	KMOVD K1, BX
#define DIFFER64 \
	VMOVDQU64 (BX), Z1 \
	VMOVDQU64 64(BX), Z2 \
	VMOVDQU64 128(BX), Z3 \
	VMOVDQU64 192(BX), Z4 \
	VPSUBQ Z0, Z1, Z1 \
	VPSUBQ Z0, Z2, Z2 \
	VPSUBQ Z0, Z3, Z3 \
	VPSUBQ Z0, Z4, Z4 \
	VPMOVSXDQ Pattern_Delta(R15), Z5 \
	VPMOVSXDQ Pattern_Delta+32(R15), Z6 \
	VPMOVSXDQ Pattern_Delta+64(R15), Z7 \
	VPMOVSXDQ Pattern_Delta+96(R15), Z8 \
	VPCMPQ $4, Z5, Z1, K1 \
	VPCMPQ $4, Z6, Z2, K2 \
	VPCMPQ $4, Z7, Z3, K3 \
	VPCMPQ $4, Z8, Z4, K4 \
	KUNPCKBW K1, K2, K1 \
	KUNPCKBW K3, K4, K3 \
	KUNPCKWD K1, K3, K1 \
	KMOVD K1, BX

#define MASKS \
	KMOVD R13, K1 \
	KSHIFTRD $16, K1, K2
#define ROW2(from, to) \
	VMOVDQU32 (from), Z0 \
	VMOVDQU32 64(from), Z1 \
	VMOVDQU32 Z0, (to) \
	VMOVDQU32 Z1, 64(to)
#define LOADUNIT ROW2(DX, BX)
#define STOREUNIT ROW2(BX, DX)
#define LOADSOME \
	MASKS \
	VMOVDQU32 (BX), Z0 \
	VMOVDQU32 64(BX), Z1 \
	VMOVDQU32 (DX), K1, Z0 \
	VMOVDQU32 64(DX), K2, Z1 \
	VMOVDQU32 Z0, (BX) \
	VMOVDQU32 Z1, 64(BX)
#define STORESOME \
	LANE0 \
	MASKS \
	VMOVDQU32 (BX), Z0 \
	VMOVDQU32 64(BX), Z1 \
	VMOVDQU32 Z0, K1, (DX) \
	VMOVDQU32 Z1, K2, 64(DX)
#define GATHER \
	MASKS \
	VMOVDQU32 Pattern_Delta(R15), Z2 \
	VMOVDQU32 Pattern_Delta+64(R15), Z3 \
	VMOVDQU32 (BX), Z0 \
	VMOVDQU32 64(BX), Z1 \
	VPGATHERDD (DX)(Z2*1), K1, Z0 \
	VPGATHERDD (DX)(Z3*1), K2, Z1 \
	VMOVDQU32 Z0, (BX) \
	VMOVDQU32 Z1, 64(BX)
#define SCATTER \
	MASKS \
	VMOVDQU32 Pattern_Delta(R15), Z2 \
	VMOVDQU32 Pattern_Delta+64(R15), Z3 \
	VMOVDQU32 (BX), Z0 \
	VMOVDQU32 64(BX), Z1 \
	VPSCATTERDD Z0, K1, (DX)(Z2*1) \
	VPSCATTERDD Z1, K2, (DX)(Z3*1)
#define BROADCAST \
	VPBROADCASTD (DX), Z0 \
	VMOVDQU32 Z0, (BX) \
	VMOVDQU32 Z0, 64(BX)

// LOAD16 loads four words for 16 lanes. It stores whole vectors, because a load of one
// from parts that were stored before waits until they have reached the cache.
#define LOADFOUR(at, x, y, z) \
	LOADPAIR(at, x, y) \
	MOVLQSX Pattern_Delta+at+32(R15), AX \
	VINSERTI32X4 $2, (DX)(AX*1), z, z \
	MOVLQSX Pattern_Delta+at+48(R15), AX \
	VINSERTI32X4 $3, (DX)(AX*1), z, z
#define LOAD16(at) \
	LOADFOUR(at, X0, Y0, Z0) \
	LOADFOUR(at+4, X1, Y1, Z1) \
	LOADFOUR(at+8, X2, Y2, Z2) \
	LOADFOUR(at+12, X3, Y3, Z3) \
	TRANSPOSE(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7) \
	KEEP16(at)
#define KEEP16(at) \
	VMOVDQU32 Z0, at(DI)(BX*1) \
	VMOVDQU32 Z1, at(DI)(R10*1) \
	VMOVDQU32 Z2, at(DI)(R13*1) \
	VMOVDQU32 Z3, at(DI)(R14*1)
#define LOADQUADS LOAD16(0); LOAD16(64)
#define LOADTWICE LOAD16(0); KEEP16(64)
#define HALVES(at, slot) \
	VPBROADCASTD at(DX), Z0 \
	VPBROADCASTD at(DX)(AX*1), Z1 \
	VMOVDQU32 Z0, (DI)(slot*1) \
	VMOVDQU32 Z1, 64(DI)(slot*1)

// A shuffle of all lanes. SIXTEEN leaves in Z0 what 16 of them read.
#define SIXTEEN(at, SOURCE, outside) \
	VMOVDQU32 numbers<>+at(SB), Z15 \
	SEGMENT(at) \
	SOURCE \
	VPCMPD $outside, Z2, Z0, K1 \
	VMOVDQA32 Z15, K1, Z0 \
	VPERMI2D Z11, Z10, Z0
#define EXCHANGE(SOURCE, outside) \
	VMOVDQU32 (R12), Z10 \
	VMOVDQU32 64(R12), Z11 \
	VPTERNLOGD $0xff, Z13, Z13, Z13 \
	VPSRLD $27, Z13, Z13 \
	SIXTEEN(0, SOURCE, outside) \
	VMOVDQA32 Z0, Z5 \
	SIXTEEN(64, SOURCE, outside) \
	MOVL Step_D(SI), DX \
	VMOVDQU32 Z5, (DI)(DX*1) \
	VMOVDQU32 Z0, 64(DI)(DX*1)
#define SHUFFLEDOWN EXCHANGE(DOWN, 6)
#define SHUFFLEUP EXCHANGE(UP, 1)
#define SHUFFLEBUTTERFLY EXCHANGE(BUTTERFLY, 6)
#define SHUFFLEINDEX EXCHANGE(INDEX, 6)

#include "vector_ops_amd64.h"

// func runAVX512(r *Run)
TEXT ·runAVX512(SB), NOSPLIT, $0-8
	ENTER
	MOVL $0x7fffffff, AX
	VPBROADCASTD AX, Z31
	START
