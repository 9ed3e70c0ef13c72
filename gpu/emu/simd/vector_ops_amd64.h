// The vector operations, of macros that the file has defined.

// LEFT is an operation that Go runs: the run ends before it.
#define LEFT JMP left<>(SB)
TEXT left<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ CX, Run_N(R11)
	LEAVE

// A guarded step runs the operation in x in the lanes of its guard.
DATA fullTable<>+(8*const_Guarded)(SB)/8, $guarded<>(SB)
DATA maskedTable<>+(8*const_Guarded)(SB)/8, $guarded<>(SB)
TEXT guarded<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVL Step_X(SI), AX
	LEAQ maskedTable<>(SB), DX
	JMP  (DX)(AX*8)

OP32(const_Mov32, mov32, mov32m, A32)
OP32(const_Not32, not32, not32m, A32; INVERT32)
OP32(const_Trunc, trunc, truncm, TRUNCATE)
OP32(const_Add32, add32, add32m, BOTH32(VPADDD))
OP32(const_Sub32, sub32, sub32m, BOTH32(VPSUBD))
OP32(const_Mul32, mul32, mul32m, BOTH32(VPMULLD))
OP32(const_Mad32, mad32, mad32m, BOTH32(VPMULLD); PLUS32)
OP32(const_MinS32, minS32, minS32m, BOTH32(VPMINSD))
OP32(const_MaxS32, maxS32, maxS32m, BOTH32(VPMAXSD))
OP32(const_MinU32, minU32, minU32m, BOTH32(VPMINUD))
OP32(const_MaxU32, maxU32, maxU32m, BOTH32(VPMAXUD))
OP32(const_And32, and32, and32m, BOTH32(VAND))
OP32(const_Or32, or32, or32m, BOTH32(VOR))
OP32(const_Xor32, xor32, xor32m, BOTH32(VXOR))
OP32(const_Shl32, shl32, shl32m, BOTH32(VPSLLVD))
OP32(const_ShrU32, shrU32, shrU32m, BOTH32(VPSRLVD))
OP32(const_ShrS32, shrS32, shrS32m, BOTH32(VPSRAVD))
OP32(const_DivU32, divU32, divU32m, QUOTIENT)
OP32(const_RemU32, remU32, remU32m, REMAINDER)
OP32(const_AddF32, addF32, addF32m, BOTH32(VADDPS); CANONICAL)
OP32(const_SubF32, subF32, subF32m, BOTH32(VSUBPS); CANONICAL)
OP32(const_MulF32, mulF32, mulF32m, BOTH32(VMULPS); CANONICAL)
OP32(const_FmaF32, fmaF32, fmaF32m, FUSED)
OP32(const_FloatS32, floatS32, floatS32m, FLOATS32)
OP32(const_FloatU32, floatU32, floatU32m, FLOATU32)
OP32(const_Select32, select32, select32m, SELECT32)

OP64(const_Mov64, mov64, mov64m, A64)
OP64(const_Not64, not64, not64m, A64; INVERT64)
OP64(const_Add64, add64, add64m, BOTH64(VPADDQ))
OP64(const_Sub64, sub64, sub64m, BOTH64(VPSUBQ))
OP64(const_And64, and64, and64m, BOTH64(VAND))
OP64(const_Or64, or64, or64m, BOTH64(VOR))
OP64(const_Xor64, xor64, xor64m, BOTH64(VXOR))
OP64(const_Shl64, shl64, shl64m, SHIFT64(VPSLLVQ))
OP64(const_ShrU64, shrU64, shrU64m, SHIFT64(VPSRLVQ))
OP64(const_ShrS64, shrS64, shrS64m, SIGNED64)
OP64(const_Mul64, mul64, mul64m, PRODUCT64)
OP64(const_Mad64, mad64, mad64m, PRODUCT64; PLUS64)
OP64(const_MulWideU, mulWideU, mulWideUm, WIDE(VPMOVZXDQ, VPMULUDQ))
OP64(const_MulWideS, mulWideS, mulWideSm, WIDE(VPMOVSXDQ, VPMULDQ))
OP64(const_MadWideU, madWideU, madWideUm, WIDE(VPMOVZXDQ, VPMULUDQ); PLUS64)
OP64(const_MadWideS, madWideS, madWideSm, WIDE(VPMOVSXDQ, VPMULDQ); PLUS64)
OP64(const_ExtendU, extendU, extendUm, EXTENDED(VPMOVZXDQ))
OP64(const_ExtendS, extendS, extendSm, EXTENDED(VPMOVSXDQ))
OP64(const_Select64, select64, select64m, SELECT64)

PREDICATE(const_Equal32, equal32, COMPARE32(EQUAL32))
PREDICATE(const_LessS32, lessS32, COMPARE32(LESS32))
PREDICATE(const_LessU32, lessU32, COMPARE32(BELOW32))
PREDICATE(const_Equal64, equal64, COMPARE64(EQUAL64))
PREDICATE(const_LessS64, lessS64, COMPARE64(LESS64))
PREDICATE(const_LessU64, lessU64, COMPARE64(BELOW64))
PREDICATE(const_EqualF32, equalF32, COMPARE32(EQUALF32))
PREDICATE(const_LessF32, lessF32, COMPARE32(LESSF32))
PREDICATE(const_LessEqualF32, lessEqualF32, COMPARE32(LESSEQUALF32))
PREDICATE(const_UnequalF32, unequalF32, COMPARE32(UNEQUALF32))
PREDICATE(const_NumberF32, numberF32, COMPARE32(NUMBERF32))
PREDICATE(const_MovPred, movPred, ONE)
PREDICATE(const_AndPred, andPred, PREDICATES(ANDL))
PREDICATE(const_OrPred, orPred, PREDICATES(ORL))
PREDICATE(const_XorPred, xorPred, PREDICATES(XORL))
PREDICATE(const_NotPred, notPred, ONE; NOTL AX)

// TAKE goes on at the target of a branch, if steps run from there.
#define TAKE \
	MOVL Step_X(SI), BX \
	SUBL Run_From(R11), BX \
	ADDL BX, Run_Ran(R11) \
	MOVL Step_B(SI), BX \
	MOVL BX, Run_From(R11) \
	MOVL Step_C(SI), CX \
	MOVL Step_D(SI), AX \
	MOVL AX, Run_Target(R11) \
	MOVQ Run_Base(R11), SI \
	ADDQ AX, SI \
	TESTL CX, CX \
	JEQ arrived \
	MOVL Run_Ran(R11), BX \
	CMPL BX, Run_Most(R11) \
	JCC arrived \
	MOVL Step_Op(SI), AX \
	JMP (R10)(AX*8) \
arrived: \
	MOVQ $0, Run_N(R11) \
	LEAVE

// A branch that only some lanes take ends the run before it.
DATA fullTable<>+(8*const_Branch)(SB)/8, $branch<>(SB)
DATA maskedTable<>+(8*const_Branch)(SB)/8, $branch<>(SB)
TEXT branch<>(SB), NOSPLIT|NOFRAME, $0-0
	ACTIVE
	TESTL AX, AX
	JNE some
	INCL Run_Branches(R11)
	NEXT
some:
	CMPL AX, R9
	JNE parted
	INCL Run_Branches(R11)
	TAKE
parted:
	MOVQ $0, Run_N(R11)
	LEAVE

DATA fullTable<>+(8*const_Jump)(SB)/8, $jump<>(SB)
DATA maskedTable<>+(8*const_Jump)(SB)/8, $jump<>(SB)
TEXT jump<>(SB), NOSPLIT|NOFRAME, $0-0
	TAKE

// PRODUCTS is the number of products of a row that run, in R12 and R13.
#define PRODUCTS \
	MOVL Step_X(SI), R12 \
	INCQ R12 \
	CMPQ R12, CX \
	CMOVQHI CX, R12 \
	MOVQ R12, R13

// CANONICALS makes every NaN of the last R13 results the same one. A result that was read
// as another NaN by a later product of the row has made that one NaN too.
#define CANONICALS \
	MOVQ SI, BX \
	MOVQ R13, R12 \
canonical: \
	SUBQ $Step__size, BX \
	MOVL Step_D(BX), DX \
	CANONICAL32 \
	DECQ R12 \
	JNE canonical

// ROWEND goes on behind the row, at whose end SI is.
#define ROWEND \
	SUBQ $Step__size, SI \
	SUBQ R13, CX \
	INCQ CX \
	NEXT

DATA fullTable<>+(8*const_FmaRow)(SB)/8, $fmaRow<>(SB)
DATA maskedTable<>+(8*const_FmaRow)(SB)/8, $fmaF32m<>(SB)
TEXT fmaRow<>(SB), NOSPLIT|NOFRAME, $0-0
	ROW

#include "access_amd64.h"

// SHUFFLED is a shuffle of all lanes; if some do not take part the run ends before it.
#define SHUFFLED(op, name, BODY) \
DATA fullTable<>+(8*op)(SB)/8, $name<>(SB) \
DATA maskedTable<>+(8*op)(SB)/8, $left<>(SB) \
TEXT name<>(SB), NOSPLIT|NOFRAME, $0-0 \
	INCL Run_Shuffles(R11) \
	MOVL Step_A(SI), R12 \
	ADDQ DI, R12 \
	B \
	ADDQ DI, BX \
	C \
	ADDQ DI, DX \
	BODY \
	NEXT

SHUFFLED(const_StepDown, stepDown, SHUFFLEDOWN)
SHUFFLED(const_StepUp, stepUp, SHUFFLEUP)
SHUFFLED(const_StepButterfly, stepButterfly, SHUFFLEBUTTERFLY)
SHUFFLED(const_StepIndex, stepIndex, SHUFFLEINDEX)

GLOBL fullTable<>(SB), RODATA, $(8*const_Ops)
GLOBL maskedTable<>(SB), RODATA, $(8*const_Ops)
