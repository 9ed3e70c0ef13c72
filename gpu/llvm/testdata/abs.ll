; An intrinsic of vectors with a flag.
define dso_local ptx_kernel void @k(ptr noundef %0, ptr noundef %1) {
  %3 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i32, ptr %0, i64 %4
  %6 = getelementptr inbounds nuw i32, ptr %1, i64 %4
  %7 = load i32, ptr %5, align 4
  %8 = bitcast i32 %7 to <2 x i16>
  %9 = tail call <2 x i16> @llvm.abs.v2i16(<2 x i16> %8, i1 true)
  %10 = bitcast <2 x i16> %9 to i32
  store i32 %10, ptr %6, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare <2 x i16> @llvm.abs.v2i16(<2 x i16>, i1 immarg)
