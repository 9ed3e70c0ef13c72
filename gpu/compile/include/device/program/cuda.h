// Programs include it for the types of CUDA; the calls of the driver API are not there.
#pragma once
#include "../cuda_runtime.h"
#define CUDAAPI
typedef unsigned long long CUdeviceptr;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
