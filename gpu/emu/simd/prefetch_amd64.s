#include "textflag.h"

// func Prefetch(at, bytes uintptr)
TEXT ·Prefetch(SB), NOSPLIT, $0-16
	MOVQ at+0(FP), SI
	MOVQ bytes+8(FP), CX
line:
	PREFETCHT0 (SI)
	ADDQ $64, SI
	SUBQ $64, CX
	JHI line
	RET
