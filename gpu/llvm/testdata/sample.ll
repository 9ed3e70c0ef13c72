; ModuleID = 'sample.cu'
source_filename = "sample.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.float4 = type { float, float, float, float }

@_ZZ6sampleE4tile = internal unnamed_addr addrspace(3) global [32 x float] undef, align 4

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none)
define dso_local noundef float @_Z5twicef(float noundef %0) local_unnamed_addr #0 !dbg !12 {
  %2 = fmul contract float %0, 2.000000e+00, !dbg !15
  ret float %2, !dbg !16
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @sample(ptr noalias noundef readonly captures(none) %0, ptr noalias noundef writeonly captures(none) %1, i32 noundef %2) local_unnamed_addr #1 !dbg !17 {
  %4 = alloca [4 x float], align 4
  %5 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !18
  %6 = zext nneg i32 %5 to i64, !dbg !19
  %7 = getelementptr inbounds nuw %struct.float4, ptr %0, i64 %6, !dbg !19
  %8 = load float, ptr %7, align 16, !dbg !19
  %9 = getelementptr inbounds nuw i8, ptr %7, i64 4, !dbg !19
  %10 = load float, ptr %9, align 4, !dbg !19
  %11 = getelementptr inbounds nuw i8, ptr %7, i64 8, !dbg !19
  %12 = load float, ptr %11, align 8, !dbg !19
  %13 = getelementptr inbounds nuw i8, ptr %7, i64 12, !dbg !19
  %14 = load float, ptr %13, align 4, !dbg !19
  %15 = fmul contract float %8, %10, !dbg !22
  %16 = fadd contract float %15, %12, !dbg !23
  %17 = icmp eq i32 %2, 0, !dbg !24
  br i1 %17, label %18, label %21, !dbg !25

18:                                               ; preds = %21, %3
  %19 = phi float [ %16, %3 ], [ %24, %21 ], !dbg !26
  %20 = tail call i32 asm "mov.u32 $0, $1;", "=r,r"(i32 %5) #5, !dbg !27, !srcloc !28
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #6, !dbg !29
  br label %43, !dbg !30

21:                                               ; preds = %3, %21
  %22 = phi i32 [ %25, %21 ], [ 0, %3 ]
  %23 = phi float [ %24, %21 ], [ %16, %3 ]
  %24 = fadd contract float %14, %23, !dbg !31
  %25 = add nuw i32 %22, 1, !dbg !32
  %26 = icmp eq i32 %25, %2, !dbg !24
  br i1 %26, label %18, label %21, !dbg !25, !llvm.loop !33

27:                                               ; preds = %43
  %28 = and i32 %20, 3, !dbg !37
  %29 = zext nneg i32 %28 to i64, !dbg !38
  %30 = getelementptr inbounds nuw float, ptr %4, i64 %29, !dbg !38
  %31 = load float, ptr %30, align 4, !dbg !38
  %32 = uitofp nneg i32 %28 to float, !dbg !39
  %33 = fsub contract float %31, %32, !dbg !40
  %34 = sub i32 31, %20, !dbg !41
  %35 = zext i32 %34 to i64, !dbg !42
  %36 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ6sampleE4tile to ptr), i64 %35, !dbg !42
  store float %33, ptr %36, align 4, !dbg !43
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !44
  %37 = tail call contract noundef float @_Z5twicef(float noundef %19) #6, !dbg !45
  %38 = zext i32 %20 to i64, !dbg !46
  %39 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ6sampleE4tile to ptr), i64 %38, !dbg !46
  %40 = load float, ptr %39, align 4, !dbg !46
  %41 = fadd contract float %37, %40, !dbg !47
  %42 = getelementptr inbounds nuw float, ptr %1, i64 %38, !dbg !48
  store float %41, ptr %42, align 4, !dbg !49
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #6, !dbg !50
  ret void, !dbg !50

43:                                               ; preds = %18, %43
  %44 = phi i32 [ 0, %18 ], [ %49, %43 ]
  %45 = add i32 %44, %20, !dbg !51
  %46 = uitofp i32 %45 to float, !dbg !52
  %47 = zext nneg i32 %44 to i64, !dbg !53
  %48 = getelementptr inbounds nuw float, ptr %4, i64 %47, !dbg !53
  store float %46, ptr %48, align 4, !dbg !54
  %49 = add nuw nsw i32 %44, 1, !dbg !55
  %50 = icmp eq i32 %49, 4, !dbg !56
  br i1 %50, label %27, label %43, !dbg !30, !llvm.loop !57
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #4

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx63,+sm_75" }
attributes #1 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx63,+sm_75" "uniform-work-group-size"="true" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { convergent nounwind memory(none) }
attributes #6 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6}
!llvm.ident = !{!7}
!llvm.errno.tbaa = !{!8}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "clang version 22.1.8", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "sample.cu", directory: ".")
!2 = !{i32 7, !"Dwarf Version", i32 2}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!6 = !{i32 7, !"frame-pointer", i32 2}
!7 = !{!"clang version 22.1.8"}
!8 = !{!9, !9, i64 0}
!9 = !{!"int", !10, i64 0}
!10 = !{!"omnipotent char", !11, i64 0}
!11 = !{!"Simple C++ TBAA"}
!12 = distinct !DISubprogram(name: "twice", scope: !1, file: !1, line: 2, type: !13, scopeLine: 2, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!13 = !DISubroutineType(types: !14)
!14 = !{}
!15 = !DILocation(line: 2, column: 57, scope: !12)
!16 = !DILocation(line: 2, column: 48, scope: !12)
!17 = distinct !DISubprogram(name: "sample", scope: !1, file: !1, line: 4, type: !13, scopeLine: 4, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!18 = !DILocation(line: 5, column: 18, scope: !17)
!19 = !DILocation(line: 6, column: 16, scope: !17)
!20 = !{!21, !21, i64 0}
!21 = !{!"float", !10, i64 0}
!22 = !DILocation(line: 7, column: 21, scope: !17)
!23 = !DILocation(line: 7, column: 27, scope: !17)
!24 = !DILocation(line: 8, column: 28, scope: !17)
!25 = !DILocation(line: 8, column: 5, scope: !17)
!26 = !DILocation(line: 0, scope: !17)
!27 = !DILocation(line: 9, column: 5, scope: !17)
!28 = !{i64 343}
!29 = !DILocation(line: 10, column: 32, scope: !17)
!30 = !DILocation(line: 11, column: 5, scope: !17)
!31 = !DILocation(line: 8, column: 42, scope: !17)
!32 = !DILocation(line: 8, column: 34, scope: !17)
!33 = distinct !{!33, !25, !34, !35, !36}
!34 = !DILocation(line: 8, column: 47, scope: !17)
!35 = !{!"llvm.loop.mustprogress"}
!36 = !{!"llvm.loop.unroll.disable"}
!37 = !DILocation(line: 12, column: 26, scope: !17)
!38 = !DILocation(line: 12, column: 20, scope: !17)
!39 = !DILocation(line: 12, column: 33, scope: !17)
!40 = !DILocation(line: 12, column: 31, scope: !17)
!41 = !DILocation(line: 12, column: 13, scope: !17)
!42 = !DILocation(line: 12, column: 5, scope: !17)
!43 = !DILocation(line: 12, column: 18, scope: !17)
!44 = !DILocation(line: 13, column: 5, scope: !17)
!45 = !DILocation(line: 14, column: 12, scope: !17)
!46 = !DILocation(line: 14, column: 25, scope: !17)
!47 = !DILocation(line: 14, column: 23, scope: !17)
!48 = !DILocation(line: 14, column: 5, scope: !17)
!49 = !DILocation(line: 14, column: 10, scope: !17)
!50 = !DILocation(line: 15, column: 1, scope: !17)
!51 = !DILocation(line: 11, column: 44, scope: !17)
!52 = !DILocation(line: 11, column: 42, scope: !17)
!53 = !DILocation(line: 11, column: 33, scope: !17)
!54 = !DILocation(line: 11, column: 40, scope: !17)
!55 = !DILocation(line: 11, column: 29, scope: !17)
!56 = !DILocation(line: 11, column: 23, scope: !17)
!57 = distinct !{!57, !30, !58, !35, !36}
!58 = !DILocation(line: 11, column: 46, scope: !17)
