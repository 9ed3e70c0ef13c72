// Names of C's <stddef.h> beside size_t and ptrdiff_t, which are built in.
#pragma once
#define offsetof(type, member) ((size_t)&((type*)0)->member)
namespace std { typedef decltype(nullptr) nullptr_t; }
