// Listings of note 000, 2.12, as they stand, with float for int. That of the warp names
// its mask `active` where it declared `active_thread_mask`: the name is mended in all
// three rungs, in the first nothing else.

// Threads of one block make different numbers of turns, and a turn has barriers. That is
// undefined; a thread that has left the loop exits, and is not waited for.
extern "C" __global__ void mistake_block_barrier(float* res, const float* src, int* nres, int n) {
    __shared__ int count;
    int gridsize = gridDim.x * blockDim.x;
    int idx = blockDim.x * blockIdx.x + threadIdx.x;
    int pos;
    for (int i = idx; i < n; i += gridsize) {
        float data = src[i];
        if (threadIdx.x == 0) {
            count = 0;
        }
        __syncthreads();
        if (i < n && data > 0) {
            pos = atomicAdd(&count, 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            count = atomicAdd(nres, count);
        }
        __syncthreads();
        if (i < n && data > 0) {
            res[count + pos] = data;
        }
        __syncthreads();
    }
}

// The leader adds its own offset, 0, and lane 0 is asked for the answer, whether it is
// there or not.
static __device__ int allocate_offset_lane(int* nres) {
    unsigned int active_thread_mask = __activemask();
    unsigned int lane_mask_in_warp;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lane_mask_in_warp));
    int inwarp_offset = __popc(active_thread_mask & lane_mask_in_warp);
    int global_offset;
    if (inwarp_offset == 0) {
        global_offset = atomicAdd(nres, inwarp_offset);
    }
    __syncwarp();
    global_offset = __shfl_sync(active_thread_mask, global_offset, 0);
    return global_offset + inwarp_offset;
}

extern "C" __global__ void mistake_warp_published(float* res, const float* src, int* nres, int n) {
    int idx = blockDim.x * blockIdx.x + threadIdx.x;
    int gridsize = gridDim.x * blockDim.x;
    for (int i = idx; i < n; i += gridsize) {
        if (src[i] > 0) {
            res[allocate_offset_lane(nres)] = src[i];
        }
    }
}

// __syncwarp() waits for the lanes of the mask only; still the leader adds 0.
static __device__ int allocate_offset(int* nres) {
    unsigned int active_thread_mask = __activemask();
    unsigned int lane_mask_in_warp;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lane_mask_in_warp));
    int inwarp_offset = __popc(active_thread_mask & lane_mask_in_warp);
    int global_offset = 0;
    if (inwarp_offset == 0) {
        global_offset = atomicAdd(nres, inwarp_offset);
    }
    __syncwarp(active_thread_mask);
    global_offset = __shfl_sync(active_thread_mask, global_offset, __ffs(active_thread_mask) - 1);
    return global_offset + inwarp_offset;
}

extern "C" __global__ void mistake_warp_offset(float* res, const float* src, int* nres, int n) {
    int idx = blockDim.x * blockIdx.x + threadIdx.x;
    int gridsize = gridDim.x * blockDim.x;
    for (int i = idx; i < n; i += gridsize) {
        if (src[i] > 0) {
            res[allocate_offset(nres)] = src[i];
        }
    }
}

// The leader adds the number of lanes; still lane 0 is asked for the answer.
static __device__ int allocate_lane(int* nres) {
    unsigned int active_thread_mask = __activemask();
    unsigned int lane_mask_in_warp;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lane_mask_in_warp));
    int inwarp_offset = __popc(active_thread_mask & lane_mask_in_warp);
    int global_offset = 0;
    if (inwarp_offset == 0) {
        global_offset = atomicAdd(nres, __popc(active_thread_mask));
    }
    __syncwarp(active_thread_mask);
    global_offset = __shfl_sync(active_thread_mask, global_offset, 0);
    return global_offset + inwarp_offset;
}

extern "C" __global__ void mistake_warp_lane(float* res, const float* src, int* nres, int n) {
    int idx = blockDim.x * blockIdx.x + threadIdx.x;
    int gridsize = gridDim.x * blockDim.x;
    for (int i = idx; i < n; i += gridsize) {
        if (src[i] > 0) {
            res[allocate_lane(nres)] = src[i];
        }
    }
}
