// assert is built in. NDEBUG removes it, as in C. There is no #pragma once: each
// #include <assert.h> looks at NDEBUG again.
#ifdef NDEBUG
#undef assert
#define assert(condition) ((void)0)
#endif
