// Part of warpbook/std.h.
#pragma once
#include "cuda_runtime.h"
#include "warpbook/std.h"
