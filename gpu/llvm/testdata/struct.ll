; A device function that takes and returns a structure of four integers.
%struct.quad = type { i32, i32, i32, i32 }

define internal %struct.quad @swap(i32 noundef %0, %struct.quad %1) noinline {
  %3 = extractvalue %struct.quad %1, 0
  %4 = extractvalue %struct.quad %1, 1
  %5 = extractvalue %struct.quad %1, 2
  %6 = extractvalue %struct.quad %1, 3
  %7 = add i32 %6, %0
  %8 = insertvalue %struct.quad poison, i32 %7, 0
  %9 = insertvalue %struct.quad %8, i32 %5, 1
  %10 = insertvalue %struct.quad %9, i32 %4, 2
  %11 = insertvalue %struct.quad %10, i32 %3, 3
  ret %struct.quad %11
}

define dso_local ptx_kernel void @k(ptr noundef %0, ptr noundef %1) {
  %3 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i32, ptr %0, i64 %4
  %6 = getelementptr inbounds nuw i32, ptr %1, i64 %4
  %7 = load i32, ptr %5, align 4
  %8 = insertvalue %struct.quad { i32 1, i32 2, i32 3, i32 poison }, i32 %7, 3
  %9 = tail call %struct.quad @swap(i32 noundef %7, %struct.quad %8)
  %10 = extractvalue %struct.quad %9, 0
  %11 = extractvalue %struct.quad %9, 1
  %12 = extractvalue %struct.quad %9, 3
  %13 = mul i32 %11, 100
  %14 = mul i32 %12, 1000
  %15 = add i32 %10, %13
  %16 = add i32 %15, %14
  store i32 %16, ptr %6, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
