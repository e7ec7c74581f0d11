
source_filename = "k.cl"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"

@.str = private unnamed_addr addrspace(4) constant [6 x i8] c"agent\00", align 1

; Function Attrs: alwaysinline convergent norecurse nounwind
define protected amdgpu_kernel void @k(i32 addrspace(1)* noundef %0, i8 addrspace(1)* noundef %1, i32 addrspace(1)* noundef %2, i32 noundef %3, i32 noundef %4) #0 !kernel_arg_addr_space !4 !kernel_arg_access_qual !5 !kernel_arg_type !6 !kernel_arg_base_type !6 !kernel_arg_type_qual !7 {
  %6 = alloca i32 addrspace(1)*, align 8, addrspace(5)
  %7 = alloca i8 addrspace(1)*, align 8, addrspace(5)
  %8 = alloca i32 addrspace(1)*, align 8, addrspace(5)
  %9 = alloca i32, align 4, addrspace(5)
  %10 = alloca i32, align 4, addrspace(5)
  %11 = alloca i32, align 4, addrspace(5)
  %12 = alloca i64, align 8, addrspace(5)
  %13 = alloca i32, align 4, addrspace(5)
  %14 = alloca i32, align 4, addrspace(5)
  %15 = alloca i32, align 4, addrspace(5)
  %16 = alloca i32, align 4, addrspace(5)
  %17 = alloca i32, align 4, addrspace(5)
  %18 = alloca i32, align 4, addrspace(5)
  %19 = alloca i8, align 1, addrspace(5)
  store i32 addrspace(1)* %0, i32 addrspace(1)* addrspace(5)* %6, align 8, !tbaa !8
  store i8 addrspace(1)* %1, i8 addrspace(1)* addrspace(5)* %7, align 8, !tbaa !8
  store i32 addrspace(1)* %2, i32 addrspace(1)* addrspace(5)* %8, align 8, !tbaa !8
  store i32 %3, i32 addrspace(5)* %9, align 4, !tbaa !12
  store i32 %4, i32 addrspace(5)* %10, align 4, !tbaa !12
  %20 = bitcast i32 addrspace(5)* %11 to i8 addrspace(5)*
  call void @llvm.lifetime.start.p5i8(i64 4, i8 addrspace(5)* %20) #2
  %21 = bitcast i64 addrspace(5)* %12 to i8 addrspace(5)*
  call void @llvm.lifetime.start.p5i8(i64 8, i8 addrspace(5)* %21) #2
  %22 = load i32 addrspace(1)*, i32 addrspace(1)* addrspace(5)* %6, align 8, !tbaa !8
  %23 = load volatile i32, i32 addrspace(1)* %22, align 4, !tbaa !12
  store i32 %23, i32 addrspace(5)* %11, align 4, !tbaa !12
  fence syncscope("agent") acquire
  %24 = load i32, i32 addrspace(5)* %11, align 4, !tbaa !12
  %25 = and i32 %24, -2147483648
  %26 = zext i32 %25 to i64
  store i64 %26, i64 addrspace(5)* %12, align 8, !tbaa !14
  %27 = bitcast i32 addrspace(5)* %13 to i8 addrspace(5)*
  call void @llvm.lifetime.start.p5i8(i64 4, i8 addrspace(5)* %27) #2
  %28 = load i8 addrspace(1)*, i8 addrspace(1)* addrspace(5)* %7, align 8, !tbaa !8
  %29 = getelementptr inbounds i8, i8 addrspace(1)* %28, i64 64
  %30 = load i64, i64 addrspace(5)* %12, align 8, !tbaa !14
  %31 = getelementptr inbounds i8, i8 addrspace(1)* %29, i64 %30
  %32 = bitcast i8 addrspace(1)* %31 to i32 addrspace(1)*
  %33 = load atomic i32, i32 addrspace(1)* %32 syncscope("agent-one-as") acquire, align 4
  store i32 %33, i32 addrspace(5)* %14, align 4
  %34 = load i32, i32 addrspace(5)* %14, align 4, !tbaa !12
  store i32 %34, i32 addrspace(5)* %13, align 4, !tbaa !12
  %35 = load i32 addrspace(1)*, i32 addrspace(1)* addrspace(5)* %6, align 8, !tbaa !8
  %36 = load i32, i32 addrspace(5)* %13, align 4, !tbaa !12
  store i32 %36, i32 addrspace(5)* %15, align 4, !tbaa !12
  %37 = load i32, i32 addrspace(5)* %15, align 4
  %38 = atomicrmw add i32 addrspace(1)* %35, i32 %37 syncscope("workgroup-one-as") monotonic, align 4
  store i32 %38, i32 addrspace(5)* %16, align 4
  %39 = load i32, i32 addrspace(5)* %16, align 4, !tbaa !12
  %40 = bitcast i32 addrspace(5)* %17 to i8 addrspace(5)*
  call void @llvm.lifetime.start.p5i8(i64 4, i8 addrspace(5)* %40) #2
  %41 = load i32, i32 addrspace(5)* %9, align 4, !tbaa !12
  store i32 %41, i32 addrspace(5)* %17, align 4, !tbaa !12
  %42 = load i32 addrspace(1)*, i32 addrspace(1)* addrspace(5)* %6, align 8, !tbaa !8
  store i32 5, i32 addrspace(5)* %18, align 4, !tbaa !12
  %43 = load i32, i32 addrspace(5)* %17, align 4
  %44 = load i32, i32 addrspace(5)* %18, align 4
  %45 = cmpxchg i32 addrspace(1)* %42, i32 %43, i32 %44 syncscope("one-as") acq_rel acquire, align 4
  %46 = extractvalue { i32, i1 } %45, 0
  %47 = extractvalue { i32, i1 } %45, 1
  br i1 %47, label %49, label %48

48:                                               ; preds = %5
  store i32 %46, i32 addrspace(5)* %17, align 4
  br label %49

49:                                               ; preds = %48, %5
  %50 = zext i1 %47 to i8
  store i8 %50, i8 addrspace(5)* %19, align 1, !tbaa !16
  %51 = load i8, i8 addrspace(5)* %19, align 1, !tbaa !16, !range !18
  %52 = trunc i8 %51 to i1
  %53 = load i32, i32 addrspace(5)* %11, align 4, !tbaa !12
  %54 = xor i32 %53, 5
  %55 = load i32 addrspace(1)*, i32 addrspace(1)* addrspace(5)* %8, align 8, !tbaa !8
  %56 = getelementptr inbounds i32, i32 addrspace(1)* %55, i64 0
  store volatile i32 %54, i32 addrspace(1)* %56, align 4, !tbaa !12
  %57 = load i32, i32 addrspace(5)* %17, align 4, !tbaa !12
  %58 = load i8 addrspace(1)*, i8 addrspace(1)* addrspace(5)* %7, align 8, !tbaa !8
  %59 = getelementptr inbounds i8, i8 addrspace(1)* %58, i64 128
  %60 = bitcast i8 addrspace(1)* %59 to i32 addrspace(1)*
  store i32 %57, i32 addrspace(1)* %60, align 4, !tbaa !12
  %61 = bitcast i32 addrspace(5)* %17 to i8 addrspace(5)*
  call void @llvm.lifetime.end.p5i8(i64 4, i8 addrspace(5)* %61) #2
  %62 = bitcast i32 addrspace(5)* %13 to i8 addrspace(5)*
  call void @llvm.lifetime.end.p5i8(i64 4, i8 addrspace(5)* %62) #2
  %63 = bitcast i64 addrspace(5)* %12 to i8 addrspace(5)*
  call void @llvm.lifetime.end.p5i8(i64 8, i8 addrspace(5)* %63) #2
  %64 = bitcast i32 addrspace(5)* %11 to i8 addrspace(5)*
  call void @llvm.lifetime.end.p5i8(i64 4, i8 addrspace(5)* %64) #2
  ret void
}

; Function Attrs: argmemonly nofree nosync nounwind willreturn
declare void @llvm.lifetime.start.p5i8(i64 immarg, i8 addrspace(5)* nocapture) #1

; Function Attrs: argmemonly nofree nosync nounwind willreturn
declare void @llvm.lifetime.end.p5i8(i64 immarg, i8 addrspace(5)* nocapture) #1

attributes #0 = { alwaysinline convergent norecurse nounwind "amdgpu-flat-work-group-size"="1,256" "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx900" "target-features"="+16-bit-insts,+ci-insts,+dpp,+flat-address-space,+gfx8-insts,+gfx9-insts,+s-memrealtime,+s-memtime-inst" "uniform-work-group-size"="false" }
attributes #1 = { argmemonly nofree nosync nounwind willreturn }
attributes #2 = { nounwind }

!llvm.module.flags = !{!0, !1}
!opencl.ocl.version = !{!2}
!llvm.ident = !{!3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"PIC Level", i32 1}
!2 = !{i32 2, i32 0}
!3 = !{!"Debian clang version 14.0.6"}
!4 = !{i32 1, i32 1, i32 1, i32 0, i32 0}
!5 = !{!"none", !"none", !"none", !"none", !"none"}
!6 = !{!"int*", !"char*", !"uint*", !"uint", !"uint"}
!7 = !{!"", !"", !"volatile", !"", !""}
!8 = !{!9, !9, i64 0}
!9 = !{!"any pointer", !10, i64 0}
!10 = !{!"omnipotent char", !11, i64 0}
!11 = !{!"Simple C/C++ TBAA"}
!12 = !{!13, !13, i64 0}
!13 = !{!"int", !10, i64 0}
!14 = !{!15, !15, i64 0}
!15 = !{!"long", !10, i64 0}
!16 = !{!17, !17, i64 0}
!17 = !{!"bool", !10, i64 0}
!18 = !{i8 0, i8 2}
