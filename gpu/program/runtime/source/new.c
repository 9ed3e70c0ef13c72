// new and delete of a program that needs nothing else of the library of C++.
#include <stdlib.h>

void *_Znwm(size_t bytes) {
  void *p = malloc(bytes ? bytes : 1);
  if (!p) abort(); // as an exception that nobody catches
  return p;
}
void *_Znam(size_t bytes) { return _Znwm(bytes); }
void _ZdlPv(void *p) { free(p); }
void _ZdlPvm(void *p, size_t bytes) { free(p); }
void _ZdaPv(void *p) { free(p); }
void _ZdaPvm(void *p, size_t bytes) { free(p); }
