// Names of <sys/types.h>, which nvcc includes by itself.
#pragma once
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
