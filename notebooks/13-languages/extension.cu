// A PyTorch extension around vectoradd_block_256: note 003's task, mended. The note launches
// its kernel with three of four arguments, waits for the whole device, and checks nothing.
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

__global__ void vectoradd(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) z[i] = x[i] + y[i];
}

torch::Tensor add(const torch::Tensor& x, const torch::Tensor& y) {
    TORCH_CHECK(x.is_cuda() && y.is_cuda(), "add: both tensors must be on the GPU");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32 && y.scalar_type() == torch::kFloat32, "add: both tensors must be float32");
    TORCH_CHECK(x.sizes() == y.sizes() && x.device() == y.device(), "add: shapes and devices must be equal");
    TORCH_CHECK(x.is_contiguous() && y.is_contiguous(), "add: both tensors must be contiguous");
    TORCH_CHECK(x.numel() < 2147483648, "add: at most 2^31 - 1 elements");
    auto z = torch::empty_like(x);
    unsigned n = x.numel();
    if (n == 0) return z;
    const c10::cuda::CUDAGuard guard(x.device());
    auto stream = c10::cuda::getCurrentCUDAStream(); // not the whole device
    vectoradd<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), z.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return z;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("add", &add, "x + y"); }
