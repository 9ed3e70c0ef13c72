; Inline assembly with two results, of which only the first is read.
define dso_local ptx_kernel void @k(ptr noundef %0, ptr noundef %1) {
  %3 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i32, ptr %0, i64 %4
  %6 = getelementptr inbounds nuw i32, ptr %1, i64 %4
  %7 = load i32, ptr %5, align 4
  br label %8

8:                                                ; preds = %2, %8
  %9 = phi i32 [ %7, %2 ], [ %12, %8 ]
  %10 = phi i32 [ 0, %2 ], [ %13, %8 ]
  %11 = tail call { i32, i32 } asm "mul.lo.u32 $0, $1, 3;\0Aadd.u32 $1, $1, 5;", "=r,=r,1"(i32 %9)
  %12 = extractvalue { i32, i32 } %11, 0
  %13 = add nuw nsw i32 %10, 1
  %14 = icmp eq i32 %13, 3
  br i1 %14, label %15, label %8

15:                                               ; preds = %8
  store i32 %12, ptr %6, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
