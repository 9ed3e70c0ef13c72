//! as half; the headers of the notes are of ours
//! right ^所有元素都一样$
//! shows ^(第.*出错)$
//! mend 000:2097 "1<<30" "1<<16" it takes 30 GB of the host
//! mend 000:2271 "1<<30" "1<<16" it takes 30 GB of the host
//! mend 000:2271 "FusedBiasAddCUDAKernelFloat<FUNCTOR,__half>(" "FusedBiasAddCUDAKernelFloat(" a function has no partial specialisation
//@ 000:2097
//@ 000:2271
int main() { test_fp16_fused_kernel(); }
