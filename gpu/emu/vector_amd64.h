// What the vector operations of all processors share: how one step follows
// another, and what its result is for. A file of operations defines its macros,
// then includes vector_ops_amd64.h.
//
// Every operation is a routine that ends by jumping to that of the next step;
// two tables hold them, for steps that run in all lanes and for those that leave
// some as they are.
//
// DI slots, R8 predicates, R9 mask, SI step, CX steps left, R10 table,
// R11 *vectorRun. AX, BX, DX and R12 are free.

#include "go_asm.h"
#include "textflag.h"

// ENTER takes the arguments of a run, START begins it.
#define ENTER \
	MOVQ r+0(FP), R11 \
	MOVQ vectorRun_steps(R11), SI \
	MOVQ vectorRun_slots(R11), DI \
	MOVQ vectorRun_preds(R11), R8 \
	MOVQ vectorRun_n(R11), CX \
	MOVL vectorRun_mask(R11), R9
#define START \
	LEAQ fullTable<>(SB), R10 \
	LEAQ maskedTable<>(SB), DX \
	CMPL R9, $-1 \
	CMOVQNE DX, R10 \
	MOVL vectorStep_op(SI), AX \
	JMP  (R10)(AX*8)

#define NEXT \
	ADDQ $vectorStep__size, SI \
	DECQ CX \
	JEQ  out \
	MOVL vectorStep_op(SI), AX \
	JMP  (R10)(AX*8) \
out: \
	MOVQ $0, vectorRun_n(R11) \
	VZEROUPPER \
	RET

// ACTIVE puts the lanes that run into AX.
#define ACTIVE \
	MOVL vectorStep_guard(SI), AX \
	MOVL (R8)(AX*1), AX \
	XORL vectorStep_flip(SI), AX \
	ANDL R9, AX

// OP is an operation whose BODY leaves its result in registers: STORE puts all
// of it at DX in the slots, MERGE the lanes in AX.
#define OP(op, full, masked, BODY, STORE, MERGE) \
DATA fullTable<>+(8*op)(SB)/8, $full<>(SB) \
DATA maskedTable<>+(8*op)(SB)/8, $masked<>(SB) \
TEXT full<>(SB), NOSPLIT|NOFRAME, $0-0 \
	BODY \
	MOVL vectorStep_d(SI), DX \
	STORE \
	NEXT \
TEXT masked<>(SB), NOSPLIT|NOFRAME, $0-0 \
	BODY \
	ACTIVE \
	MOVL vectorStep_d(SI), DX \
	MERGE \
	NEXT
#define OP32(op, full, masked, BODY) OP(op, full, masked, BODY, STORE32, MERGE32)
#define OP64(op, full, masked, BODY) OP(op, full, masked, BODY, STORE64, MERGE64)

// PREDICATE is an operation whose BODY leaves a bit a lane in AX.
#define PREDICATE(op, name, BODY) \
DATA fullTable<>+(8*op)(SB)/8, $name<>(SB) \
DATA maskedTable<>+(8*op)(SB)/8, $name<>(SB) \
TEXT name<>(SB), NOSPLIT|NOFRAME, $0-0 \
	BODY \
	MOVL AX, R12 \
	XORL vectorStep_x(SI), R12 \
	ACTIVE \
	MOVL vectorStep_d(SI), DX \
	MOVL (R8)(DX*1), BX \
	XORL BX, R12 \
	ANDL AX, R12 \
	XORL R12, BX \
	MOVL BX, (R8)(DX*1) \
	NEXT

// Sources.
#define B MOVL vectorStep_b(SI), BX
#define C MOVL vectorStep_c(SI), DX
#define ONE MOVL vectorStep_a(SI), AX; MOVL (R8)(AX*1), AX
#define PREDICATES(INS) ONE; B; INS (R8)(BX*1), AX
