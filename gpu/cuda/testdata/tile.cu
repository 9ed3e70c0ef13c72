// A tile by TMA, to test tensor maps as parameters.

struct alignas(64) TensorMap { unsigned char bytes[128]; };

// tile[r][c] = tensor[row + r][column + c] for a tile of 4 rows of 8 floats.
extern "C" __global__ void tile(const __grid_constant__ TensorMap map, float *tile, int column, int row)
{
	__shared__ alignas(128) float part[4][8];
	__shared__ alignas(8) unsigned long long barrier;
	unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), to = (unsigned)__cvta_generic_to_shared(part);
	if (threadIdx.x == 0) {
		asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at));
		asm volatile("fence.proxy.async.shared::cta;");
		asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(at));
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
			:: "r"(to), "l"(&map), "r"(column), "r"(row), "r"(at) : "memory");
	}
	__syncthreads();
	asm volatile("{\n\t.reg .pred p;\nagain:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n\t@!p bra again;\n\t}" :: "r"(at) : "memory");
	tile[threadIdx.x] = part[threadIdx.x / 8][threadIdx.x % 8];
}
