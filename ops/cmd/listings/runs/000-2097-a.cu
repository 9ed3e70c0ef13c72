//! as float; the headers of the notes are of ours
//! right ^所有元素都一样$
//! shows ^(第.*出错)$
//! mend 000:2097 "1<<30" "1<<16" it takes 30 GB of the host
//@ 000:2097
int main() { test_fp32_fused_kernel(); }
