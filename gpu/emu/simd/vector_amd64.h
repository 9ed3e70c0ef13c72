// What the vector operations of all processors share: how one step follows
// another, and what its result is for. A file of operations defines its macros,
// then includes vector_ops_amd64.h.
//
// Every operation is a routine that ends by jumping to that of the next step;
// two tables hold them, for steps that run in all lanes and for those that leave
// some as they are.
//
// DI slots, R8 predicates, R9 mask, SI step, CX steps left, R10 table,
// R11 *Run. AX, BX, DX, R12 and R13 are free.

#include "go_asm.h"
#include "textflag.h"

// ENTER takes the arguments of a run, START begins it.
#define ENTER \
	MOVQ r+0(FP), R11 \
	MOVQ Run_Steps(R11), SI \
	MOVQ Run_Slots(R11), DI \
	MOVQ Run_Preds(R11), R8 \
	MOVQ Run_N(R11), CX \
	MOVL Run_Mask(R11), R9
#define START \
	LEAQ fullTable<>(SB), R10 \
	LEAQ maskedTable<>(SB), DX \
	CMPL R9, $-1 \
	CMOVQNE DX, R10 \
	MOVL Step_Op(SI), AX \
	JMP  (R10)(AX*8)

#define NEXT \
	ADDQ $Step__size, SI \
	DECQ CX \
	JEQ  out \
	MOVL Step_Op(SI), AX \
	JMP  (R10)(AX*8) \
out: \
	MOVQ $0, Run_N(R11) \
	LEAVE

// LEAVE ends the run at a step.
#define LEAVE \
	SUBQ Run_Base(R11), SI \
	MOVQ SI, Run_At(R11) \
	VZEROUPPER \
	RET

// ACTIVE puts the lanes that run into AX.
#define ACTIVE \
	MOVL Step_Guard(SI), AX \
	MOVL (R8)(AX*1), AX \
	XORL Step_Flip(SI), AX \
	ANDL R9, AX

// OP is an operation whose BODY leaves its result in registers: STORE puts all
// of it at DX in the slots, MERGE the lanes in AX.
#define OP(op, full, masked, BODY, STORE, MERGE) \
DATA fullTable<>+(8*op)(SB)/8, $full<>(SB) \
DATA maskedTable<>+(8*op)(SB)/8, $masked<>(SB) \
TEXT full<>(SB), NOSPLIT|NOFRAME, $0-0 \
	BODY \
	MOVL Step_D(SI), DX \
	STORE \
	NEXT \
TEXT masked<>(SB), NOSPLIT|NOFRAME, $0-0 \
	BODY \
	ACTIVE \
	MOVL Step_D(SI), DX \
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
	XORL Step_X(SI), R12 \
	ACTIVE \
	MOVL Step_D(SI), DX \
	MOVL (R8)(DX*1), BX \
	XORL BX, R12 \
	ANDL AX, R12 \
	XORL R12, BX \
	MOVL BX, (R8)(DX*1) \
	NEXT

// Sources.
#define B MOVL Step_B(SI), BX
#define C MOVL Step_C(SI), DX
#define ONE MOVL Step_A(SI), AX; MOVL (R8)(AX*1), AX
#define PREDICATES(INS) ONE; B; INS (R8)(BX*1), AX
