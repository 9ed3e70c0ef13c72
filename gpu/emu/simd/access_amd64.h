// Steps that load and store words, of macros that the file of operations has
// defined: FIRST32 and FIRST64, DIFFER32 and DIFFER64, and the moves of data.
//
// An access runs here if the worker knows its pattern, its bytes lie where the
// site may access, and all that it loads were written. Otherwise the run ends
// before it, with nothing changed that matters, and Go runs it.
//
// DX address of the lowest active lane, then its offset, then where it lies; R10
// *Memory, R12 *Site, R13 active lanes, R14 low bits of the address, R15 *Pattern.

#define SLOT \
	MOVL Step_A(SI), BX \
	ADDQ DI, BX

// ADDRESS takes the address of lane DX from the slot at BX, and keeps it without the
// offset for DIFFER.
#define ADDRESS32 \
	FIRST32(BX, DX) \
	MOVL (BX)(DX*4), DX \
	ADDL Site_Offset(R12), DX
#define ADDRESS64 \
	FIRST64(BX, DX) \
	MOVQ (BX)(DX*8), DX \
	ADDQ Site_Offset(R12), DX

// OWN is the memory of the site, which CURRENT compares with what its allocation has
// now; BLOCK is that of the block.
#define OWN LEAQ Site_Own(R12), R10
#define BLOCK MOVQ Run_Shared(R11), R10
#define CURRENT \
	SUBQ Site_Window(R12), DX \
	MOVQ Site_Holder(R12), AX \
	TESTQ AX, AX \
	JEQ other \
	MOVQ (AX), AX \
	CMPQ AX, Site_Contents(R12) \
	JNE other
#define NOTHING

// MARKOWN marks bytes as written that only this worker marks, MARKALL those of all.
#define MARKOWN ORL BX, (R14)(AX*4)
#define MARKALL LOCK; ORL BX, (R14)(AX*4)

// SEARCH ends the run with the pattern if Go has to look for races first, or if there may
// be one: it is Search.Pass. R12 is the key that the access compares, R14 the row of its
// lowest lane and R13 the words of bits that are left.
#define SEARCH \
	CMPL Run_Ask(R11), $0 \
	JNE asked \
	MOVQ Run_Search(R11), R14 \
	TESTQ R14, R14 \
	JEQ free \
	MOVL Search_Used(R14), AX \
	CMPL AX, Search_Room(R14) \
	JCC asked \
	MOVQ Run_Key(R11), R12 \
	MOVL Pattern_First(R15), AX \
	TESTL AX, AX \
	JLT skewless \
	MOVL DX, BX \
	SHRL $2, BX \
	SUBL BX, AX \
	ANDL $31, AX \
	SHLL $const_skewBits, AX \
	ORQ AX, R12 \
	JMP keyed \
skewless: \
	CMPL AX, $const_Clash \
	JEQ asked \
	ORQ $(const_uneven<<const_skewBits), R12 \
keyed: \
	MOVQ Search_Rows(R14), R14 \
	MOVQ DX, AX \
	ANDQ $-const_rowBytes, AX \
	ADDQ AX, R14 \
	MOVL Pattern_Covered(R15), R13 \
row: \
	MOVLQSX Pattern_Words-4(R15)(R13*4), AX \
	SHLQ $5, AX \
	ADDQ R14, AX \
	MOVL Pattern_Bits-4(R15)(R13*4), BX \
	CMPQ R12, Row_Key(AX) \
	JNE strange \
own: \
	CMPL Pattern_Marks(R15), $0 \
	JNE ownStore \
	MOVL Row_Written(AX), R10 \
	ANDL Row_Foreign(AX), R10 \
	TESTL BX, R10 \
	JNE asked \
	ORL BX, Row_Read(AX) \
	DECL R13 \
	JNE row \
	JMP noted \
ownStore: \
	TESTL BX, Row_Foreign(AX) \
	JNE asked \
	ORL BX, Row_Written(AX) \
	DECL R13 \
	JNE row \
	JMP noted \
strange: \
	MOVL Row_Key+4(AX), R10 \
	CMPL R10, Run_Key+4(R11) \
	JEQ known \
	MOVQ R12, Row_Key(AX) \
	MOVQ $0, Row_Read(AX) \
	MOVL $0, Row_Foreign(AX) \
	CMPL Pattern_First(R15), $0 \
	JGE own \
	MOVL R12, R10 \
	XORL $((const_uneven^const_noSkew)<<const_skewBits), R10 \
	MOVL R10, Row_Key(AX) \
	JMP foreign \
known: \
	MOVL Row_Key(AX), R10 \
	XORL R12, R10 \
	TESTL $0xff, R10 \
	JEQ foreign \
	MOVL $const_manyKey, Row_Key(AX) \
	MOVL Row_Read(AX), R10 \
	ORL Row_Written(AX), R10 \
	MOVL R10, Row_Foreign(AX) \
foreign: \
	MOVL Row_Written(AX), R10 \
	CMPL Pattern_Marks(R15), $0 \
	JNE foreignStore \
	TESTL BX, R10 \
	JNE asked \
	ORL BX, Row_Read(AX) \
	ORL BX, Row_Foreign(AX) \
	DECL R13 \
	JNE row \
	JMP noted \
foreignStore: \
	ORL Row_Read(AX), R10 \
	TESTL BX, R10 \
	JNE asked \
	ORL BX, Row_Written(AX) \
	ORL BX, Row_Foreign(AX) \
	DECL R13 \
	JNE row \
noted: \
	MOVQ Run_Search(R11), R14 \
	MOVL Search_Used(R14), AX \
	ADDL $const_notedBytes, Search_Used(R14) \
	ADDQ Search_Log(R14), AX \
	MOVL Pattern_Number(R15), BX \
	MOVL BX, Noted_Pattern(AX) \
	MOVL DX, Noted_Base(AX) \
	VMOVDQU Run_Stamp(R11), X0 \
	VMOVDQU X0, Noted_Stamp(AX) \
	MOVL Pattern_Mask(R15), R13 \
	MOVL Step_D(SI), R12 \
	ADDQ Run_Sites(R11), R12 \
	BLOCK \
free:

// AHEAD fetches the bytes that the warp is likely to access next.
#define AHEAD \
	MOVL Run_Warp(R11), BX \
	LEAQ (DX)(DX*1), AX \
	SUBQ Site_Last(R12)(BX*8), AX \
	MOVQ DX, Site_Last(R12)(BX*8) \
	MOVQ Pattern_Ahead(R15), BX \
	TESTQ BX, BX \
	JEQ fetched \
	ADDQ Pattern_Min(R15), AX \
	ADDQ Memory_Base(R10), AX \
line: \
	PREFETCHT0 (AX) \
	ADDQ $64, AX \
	SUBQ $64, BX \
	JHI line \
fetched:

// ACCESS is a step that accesses memory; ready is 0 if Go runs it, and low are the
// bits of the address that patterns distinguish.
#define ACCESS(op, name, ready, ADDRESS, low, DIFFER, MEMORY, CHECK, MARK, ASK, FETCH) \
DATA fullTable<>+(8*op)(SB)/8, $name<>(SB) \
DATA maskedTable<>+(8*op)(SB)/8, $name<>(SB) \
TEXT name<>(SB), NOSPLIT|NOFRAME, $0-0 \
	ACTIVE \
	TESTL AX, AX \
	JEQ none \
	CMPQ ready(R11), $0 \
	JEQ other \
	MOVL AX, R13 \
	MOVL Step_D(SI), R12 \
	ADDQ Run_Sites(R11), R12 \
	TZCNTL R13, DX \
	SLOT \
	ADDRESS \
	MOVL DX, R14 \
	ANDL $low, R14 \
	MOVL R14, R10 \
	SHRL $2, R10 \
	IMUL3L $const_wayFactor, R13, AX \
	SHRL $27, AX \
	XORL R10, AX \
	ANDL $(const_Ways-1), AX \
	MOVL AX, R10 \
	XORL $1, R10 \
way: \
	MOVQ Site_Known(R12)(AX*8), R15 \
	TESTQ R15, R15 \
	JEQ wrong \
	CMPL R13, Pattern_Mask(R15) \
	JNE wrong \
	CMPL R14, Pattern_Low(R15) \
	JNE wrong \
	SLOT \
	DIFFER \
	TESTL BX, R13 \
	JEQ found \
wrong: \
	CMPL AX, R10 \
	JEQ other \
	MOVL R10, AX \
	JMP way \
found: \
	CHECK \
	MOVQ Site_Room(R12), AX \
	SUBQ Pattern_Bytes(R15), AX \
	JCS other \
	MOVQ DX, BX \
	ADDQ Pattern_Min(R15), BX \
	SUBQ Site_Start(R12), BX \
	CMPQ BX, AX \
	JHI other \
	MEMORY \
	MOVQ Memory_Whole(R10), AX \
	CMPL (AX), $0 \
	JNE whole \
	MOVQ DX, R14 \
	SHRQ $5, R14 \
	SHLQ $2, R14 \
	ADDQ Memory_Written(R10), R14 \
	MOVL Pattern_Covered(R15), R10 \
word: \
	MOVLQSX Pattern_Words-4(R15)(R10*4), AX \
	MOVL (R14)(AX*4), BX \
	NOTL BX \
	ANDL Pattern_Bits-4(R15)(R10*4), BX \
	JEQ written \
	CMPL Pattern_Marks(R15), $0 \
	JEQ other \
	MARK \
written: \
	DECL R10 \
	JNE word \
	MEMORY \
whole: \
	ASK \
	INCQ Pattern_Runs(R15) \
	INCL Site_Hits(R12) \
	FETCH \
	ADDQ Memory_Base(R10), DX \
	MOVL Pattern_How(R15), AX \
	LEAQ moves<>(SB), R14 \
	JMP  (R14)(AX*8) \
none: \
	NEXT \
asked: \
	MOVQ R15, Run_Found(R11) \
other: \
	MOVQ CX, Run_N(R11) \
	LEAVE

ACCESS(const_AccessGlobal, accessGlobal, Run_Global, ADDRESS64, 127, DIFFER64, OWN, CURRENT, MARKALL, NOTHING, AHEAD)
ACCESS(const_AccessShared, accessShared, Run_Shared, ADDRESS32, 31, DIFFER32, BLOCK, NOTHING, MARKOWN, SEARCH, NOTHING)
ACCESS(const_AccessSharedWide, accessSharedWide, Run_Shared, ADDRESS64, 31, DIFFER64, BLOCK, NOTHING, MARKOWN, SEARCH, NOTHING)

// RESUME goes on with the next step.
#define RESUME \
	LEAQ fullTable<>(SB), R10 \
	LEAQ maskedTable<>(SB), AX \
	CMPL R9, $-1 \
	CMOVQNE AX, R10 \
	NEXT

// EACH runs a move for every word of a lane: BX is the slot of its data and DX the
// place of the lowest active lane.
#define EACH(MOVE) \
	XORL R14, R14 \
component: \
	MOVL Site_Regs(R12)(R14*4), BX \
	ADDQ DI, BX \
	MOVE \
	ADDQ $4, DX \
	INCL R14 \
	CMPL R14, Site_Count(R12) \
	JCS component \
	RESUME

#define ONLY(WHOLE, SOME) \
	MOVL Site_Regs(R12), BX \
	ADDQ DI, BX \
	CMPL R13, $-1 \
	JNE some \
	WHOLE \
	JMP done \
some: \
	SOME \
done: \
	RESUME

// LANE0 moves DX from the lowest active lane to lane 0.
#define LANE0 \
	TZCNTL R13, AX \
	SHLQ $2, AX \
	SUBQ AX, DX

// TRANSPOSE makes the words of lanes i, i+4 and so on in register i to words i of all these
// lanes, and the reverse.
#define TRANSPOSE(r0, r1, r2, r3, r4, r5, r6, r7) \
	VPUNPCKLDQ r1, r0, r4 \
	VPUNPCKHDQ r1, r0, r5 \
	VPUNPCKLDQ r3, r2, r6 \
	VPUNPCKHDQ r3, r2, r7 \
	VPUNPCKLQDQ r6, r4, r0 \
	VPUNPCKHQDQ r6, r4, r1 \
	VPUNPCKLQDQ r7, r5, r2 \
	VPUNPCKHQDQ r7, r5, r3
#define TRANSPOSE8 TRANSPOSE(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)

// QUADS runs a move of four words a lane, with the slots of the words in BX, R10, R13 and
// R14.
#define QUADS(MOVE) \
	MOVL Site_Regs(R12), BX \
	MOVL Site_Regs+4(R12), R10 \
	MOVL Site_Regs+8(R12), R13 \
	MOVL Site_Regs+12(R12), R14 \
	MOVE \
	RESUME
#define LOADPAIR(at, x, y) \
	MOVLQSX Pattern_Delta+at(R15), AX \
	VMOVDQU (DX)(AX*1), x \
	MOVLQSX Pattern_Delta+at+16(R15), AX \
	VINSERTI128 $1, (DX)(AX*1), y, y
#define STORELOW(at, x) \
	MOVLQSX Pattern_Delta+at(R15), AX \
	VMOVDQU x, (DX)(AX*1)
#define STOREHIGH(at, y) \
	MOVLQSX Pattern_Delta+at+16(R15), AX \
	VEXTRACTI128 $1, y, (DX)(AX*1)
#define STORE8(at) \
	VMOVDQU at(DI)(BX*1), Y0 \
	VMOVDQU at(DI)(R10*1), Y1 \
	VMOVDQU at(DI)(R13*1), Y2 \
	VMOVDQU at(DI)(R14*1), Y3 \
	TRANSPOSE8 \
	STORELOW(at, X0) \
	STORELOW(at+4, X1) \
	STORELOW(at+8, X2) \
	STORELOW(at+12, X3) \
	STOREHIGH(at, Y0) \
	STOREHIGH(at+4, Y1) \
	STOREHIGH(at+8, Y2) \
	STOREHIGH(at+12, Y3)
#define STORE32QUADS STORE8(0); STORE8(32); STORE8(64); STORE8(96)

// LOADHALVES loads each word of lanes 0 and 16 for all lanes of their halves.
#define LOADHALVES \
	MOVLQSX Pattern_Delta+64(R15), AX \
	HALVES(0, BX) \
	HALVES(4, R10) \
	HALVES(8, R13) \
	HALVES(12, R14)

DATA moves<>+(8*const_MoveLoadUnit)(SB)/8, $loadUnit<>(SB)
DATA moves<>+(8*const_MoveStoreUnit)(SB)/8, $storeUnit<>(SB)
DATA moves<>+(8*const_MoveGather)(SB)/8, $gather<>(SB)
DATA moves<>+(8*const_MoveScatter)(SB)/8, $scatter<>(SB)
DATA moves<>+(8*const_MoveBroadcast)(SB)/8, $broadcast<>(SB)
DATA moves<>+(8*const_MoveLoadQuads)(SB)/8, $loadQuads<>(SB)
DATA moves<>+(8*const_MoveStoreQuads)(SB)/8, $storeQuads<>(SB)
DATA moves<>+(8*const_MoveLoadHalves)(SB)/8, $loadHalves<>(SB)
DATA moves<>+(8*const_MoveLoadTwice)(SB)/8, $loadTwice<>(SB)
GLOBL moves<>(SB), RODATA, $(8*const_Moves)

TEXT loadUnit<>(SB), NOSPLIT|NOFRAME, $0-0
	ONLY(LOADUNIT, LANE0; LOADSOME)

TEXT storeUnit<>(SB), NOSPLIT|NOFRAME, $0-0
	ONLY(STOREUNIT, STORESOME)

TEXT gather<>(SB), NOSPLIT|NOFRAME, $0-0
	EACH(GATHER)

TEXT scatter<>(SB), NOSPLIT|NOFRAME, $0-0
	EACH(SCATTER)

TEXT broadcast<>(SB), NOSPLIT|NOFRAME, $0-0
	EACH(BROADCAST)

TEXT loadQuads<>(SB), NOSPLIT|NOFRAME, $0-0
	QUADS(LOADQUADS)

TEXT storeQuads<>(SB), NOSPLIT|NOFRAME, $0-0
	QUADS(STORE32QUADS)

TEXT loadHalves<>(SB), NOSPLIT|NOFRAME, $0-0
	QUADS(LOADHALVES)

TEXT loadTwice<>(SB), NOSPLIT|NOFRAME, $0-0
	QUADS(LOADTWICE)
