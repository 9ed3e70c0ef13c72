// The header that every source compiled by clang begins with.
#pragma once
// Public programs ask for these guards of NVIDIA's headers.
#define __CUDA_RUNTIME_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "warpbook/language.h"

#include "warpbook/integer.h"
#include "warpbook/simd.h"
#include "warpbook/memory.h"
#include "warpbook/warp.h"
#include "warpbook/math.h"
#include "warpbook/texture.h"

#ifdef __WB_PROGRAM
// Headers of C that NVIDIA's header includes, and sources rely on.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "warpbook/api.h"
#include "warpbook/launch.h"
#endif
