// The functions that kernels use are those of cuda_runtime.h.
#pragma once
#include "cuda_runtime.h"
#include "warpbook/std.h"
