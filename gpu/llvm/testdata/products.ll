; Products in vectors: sums of their elements are fused, as sums of numbers are.
target triple = "nvptx64-nvidia-cuda"

define dso_local ptx_kernel void @k(ptr readonly %x, ptr writeonly %y) {
entry:
  %t = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext nneg i32 %t to i64
  %at = getelementptr inbounds nuw i32, ptr %x, i64 %i
  %n = load i32, ptr %at, align 4
  %a = uitofp i32 %n to float
  %v0 = insertelement <2 x float> poison, float %a, i64 0
  %v = insertelement <2 x float> %v0, float 3.000000e+00, i64 1
  %squares = fmul contract <2 x float> %v, %v
  %other = shufflevector <2 x float> %squares, <2 x float> poison, <2 x i32> <i32 poison, i32 0>
  %w = shufflevector <2 x float> %v, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %d = fsub contract <2 x float> %w, %other
  %less = extractelement <2 x float> %d, i64 1
  %square = extractelement <2 x float> %squares, i64 0
  %more = fadd contract float %square, 1.000000e+00
  %cube = fmul contract float %square, %a
  %c0 = insertelement <2 x float> poison, float %cube, i64 0
  %c = insertelement <2 x float> %c0, float %more, i64 1
  %s = fadd contract <2 x float> %c, %v
  %odd = extractelement <2 x float> %s, i64 0
  %p = bitcast float %less to i32
  %q = bitcast float %more to i32
  %r = bitcast float %odd to i32
  %pq = xor i32 %p, %q
  %rest = mul i32 %r, 5
  %all = xor i32 %pq, %rest
  %to = getelementptr inbounds nuw i32, ptr %y, i64 %i
  store i32 %all, ptr %to, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
