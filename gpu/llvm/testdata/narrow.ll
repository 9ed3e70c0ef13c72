; A number of 4 bits out of a byte.
define dso_local ptx_kernel void @k(ptr noundef %0, ptr noundef %1) {
  %3 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i32, ptr %0, i64 %4
  %6 = getelementptr inbounds nuw i32, ptr %1, i64 %4
  %7 = load i32, ptr %5, align 4
  %8 = load i8, ptr %5, align 4
  %9 = trunc i8 %8 to i4
  %10 = zext i4 %9 to i32
  store i32 %10, ptr %6, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
