// The parts of shfl that shuffle_amd64.s and the steps share.

DATA numbers<>+0(SB)/8, $0x0000000100000000
DATA numbers<>+8(SB)/8, $0x0000000300000002
DATA numbers<>+16(SB)/8, $0x0000000500000004
DATA numbers<>+24(SB)/8, $0x0000000700000006
DATA numbers<>+32(SB)/8, $0x0000000900000008
DATA numbers<>+40(SB)/8, $0x0000000b0000000a
DATA numbers<>+48(SB)/8, $0x0000000d0000000c
DATA numbers<>+56(SB)/8, $0x0000000f0000000e
DATA numbers<>+64(SB)/8, $0x0000001100000010
DATA numbers<>+72(SB)/8, $0x0000001300000012
DATA numbers<>+80(SB)/8, $0x0000001500000014
DATA numbers<>+88(SB)/8, $0x0000001700000016
DATA numbers<>+96(SB)/8, $0x0000001900000018
DATA numbers<>+104(SB)/8, $0x0000001b0000001a
DATA numbers<>+112(SB)/8, $0x0000001d0000001c
DATA numbers<>+120(SB)/8, $0x0000001f0000001e
GLOBL numbers<>(SB), RODATA, $128

// With AVX-512, 16 lanes at a time: Z13 is all 31, Z15 the numbers of the lanes.

// SEGMENT puts b into Z0, the lanes' segment masks into Z1 and the last lane
// that each may read from into Z2.
#define SEGMENT(at) \
	VPANDD at(BX), Z13, Z0 \
	VMOVDQU32 at(DX), Z2 \
	VPSRLD $8, Z2, Z1 \
	VPANDD Z13, Z1, Z1 \
	VPANDD Z13, Z2, Z3 \
	VMOVDQA32 Z1, Z2 \
	VPTERNLOGD $0xca, Z3, Z15, Z2

// The lane that each reads from, into Z0.
#define DOWN VPADDD Z0, Z15, Z0
#define UP VPSUBD Z0, Z15, Z0
#define BUTTERFLY VPXORD Z0, Z15, Z0
#define INDEX VPTERNLOGD $0xd8, Z1, Z15, Z0

// With AVX2, 8 lanes at a time, with their numbers in Y15.

DATA thirtyOne<>+0(SB)/8, $0x0000001f0000001f
DATA thirtyOne<>+8(SB)/8, $0x0000001f0000001f
DATA thirtyOne<>+16(SB)/8, $0x0000001f0000001f
DATA thirtyOne<>+24(SB)/8, $0x0000001f0000001f
GLOBL thirtyOne<>(SB), RODATA, $32

#define SEGMENT8(at) \
	VMOVDQU numbers<>+at(SB), Y15 \
	VMOVDQU at(BX), Y0 \
	VPAND thirtyOne<>(SB), Y0, Y0 \
	VMOVDQU at(DX), Y3 \
	VPSRLD $8, Y3, Y1 \
	VPAND thirtyOne<>(SB), Y1, Y1 \
	VPAND thirtyOne<>(SB), Y3, Y3 \
	VPANDN Y3, Y1, Y3 \
	VPAND Y1, Y15, Y2 \
	VPOR Y3, Y2, Y2

#define DOWN8 VPADDD Y0, Y15, Y0
#define UP8 VPSUBD Y0, Y15, Y0
#define BUTTERFLY8 VPXOR Y0, Y15, Y0
#define INDEX8 VPANDN Y0, Y1, Y0; VPAND Y1, Y15, Y3; VPOR Y3, Y0, Y0

// The lanes whose source is outside of their segments, into Y5; they read their own.
#define ABOVE VPCMPGTD Y2, Y0, Y5
#define BELOW VPCMPGTD Y0, Y2, Y5
