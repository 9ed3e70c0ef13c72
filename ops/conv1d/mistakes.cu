// The listing of note 001 as it stands, with const added and its indices unchanged.

// Every thread of the last block stores, also those without an output.
extern "C" __global__ void mistake_no_guard(const float* N, const float* M, float* P, unsigned N_Size, unsigned Mask_Size) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0;
    int left = id - Mask_Size / 2;
    for (int i = 0; i < Mask_Size; i++) {
        if (left + i < N_Size && left + i >= 0) sum += M[i] * N[left + i];
    }
    P[id] = sum;
}

// A guard, and the mask read from its end: the correlation of the note becomes a
// convolution, which symmetric masks hide.
extern "C" __global__ void mistake_flipped_mask(const float* N, const float* M, float* P, unsigned N_Size, unsigned Mask_Size) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= N_Size) return;
    float sum = 0.0;
    int left = id - Mask_Size / 2;
    for (int i = 0; i < Mask_Size; i++) {
        if (left + i < N_Size && left + i >= 0) sum += M[Mask_Size - 1 - i] * N[left + i];
    }
    P[id] = sum;
}
