
source_filename = "k.cl"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@.str = private unnamed_addr addrspace(4) constant [6 x i8] c"agent\00", align 1
@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: alwaysinline convergent norecurse nounwind
define protected amdgpu_kernel void @k(ptr addrspace(1) noundef align 4 %0, ptr addrspace(1) noundef align 1 %1, ptr addrspace(1) noundef align 4 %2, i32 noundef %3, i32 noundef %4) #0 !kernel_arg_addr_space !5 !kernel_arg_access_qual !6 !kernel_arg_type !7 !kernel_arg_base_type !7 !kernel_arg_type_qual !8 {
  %6 = alloca ptr addrspace(1), align 8, addrspace(5)
  %7 = alloca ptr addrspace(1), align 8, addrspace(5)
  %8 = alloca ptr addrspace(1), align 8, addrspace(5)
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
  store ptr addrspace(1) %0, ptr addrspace(5) %6, align 8, !tbaa !9
  store ptr addrspace(1) %1, ptr addrspace(5) %7, align 8, !tbaa !9
  store ptr addrspace(1) %2, ptr addrspace(5) %8, align 8, !tbaa !9
  store i32 %3, ptr addrspace(5) %9, align 4, !tbaa !13
  store i32 %4, ptr addrspace(5) %10, align 4, !tbaa !13
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %11) #2
  call void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) %12) #2
  %20 = load ptr addrspace(1), ptr addrspace(5) %6, align 8, !tbaa !9
  %21 = load volatile i32, ptr addrspace(1) %20, align 4, !tbaa !13
  store i32 %21, ptr addrspace(5) %11, align 4, !tbaa !13
  fence syncscope("agent") acquire
  %22 = load i32, ptr addrspace(5) %11, align 4, !tbaa !13
  %23 = and i32 %22, -2147483648
  %24 = zext i32 %23 to i64
  store i64 %24, ptr addrspace(5) %12, align 8, !tbaa !15
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %13) #2
  %25 = load ptr addrspace(1), ptr addrspace(5) %7, align 8, !tbaa !9
  %26 = getelementptr inbounds i8, ptr addrspace(1) %25, i64 64
  %27 = load i64, ptr addrspace(5) %12, align 8, !tbaa !15
  %28 = getelementptr inbounds i8, ptr addrspace(1) %26, i64 %27
  %29 = load atomic i32, ptr addrspace(1) %28 syncscope("agent-one-as") acquire, align 4
  store i32 %29, ptr addrspace(5) %14, align 4
  %30 = load i32, ptr addrspace(5) %14, align 4, !tbaa !13
  store i32 %30, ptr addrspace(5) %13, align 4, !tbaa !13
  %31 = load ptr addrspace(1), ptr addrspace(5) %6, align 8, !tbaa !9
  %32 = load i32, ptr addrspace(5) %13, align 4, !tbaa !13
  store i32 %32, ptr addrspace(5) %15, align 4, !tbaa !13
  %33 = load i32, ptr addrspace(5) %15, align 4
  %34 = atomicrmw add ptr addrspace(1) %31, i32 %33 syncscope("workgroup-one-as") monotonic, align 4
  store i32 %34, ptr addrspace(5) %16, align 4
  %35 = load i32, ptr addrspace(5) %16, align 4, !tbaa !13
  call void @llvm.lifetime.start.p5(i64 4, ptr addrspace(5) %17) #2
  %36 = load i32, ptr addrspace(5) %9, align 4, !tbaa !13
  store i32 %36, ptr addrspace(5) %17, align 4, !tbaa !13
  %37 = load ptr addrspace(1), ptr addrspace(5) %6, align 8, !tbaa !9
  store i32 5, ptr addrspace(5) %18, align 4, !tbaa !13
  %38 = load i32, ptr addrspace(5) %17, align 4
  %39 = load i32, ptr addrspace(5) %18, align 4
  %40 = cmpxchg ptr addrspace(1) %37, i32 %38, i32 %39 syncscope("one-as") acq_rel acquire, align 4
  %41 = extractvalue { i32, i1 } %40, 0
  %42 = extractvalue { i32, i1 } %40, 1
  br i1 %42, label %44, label %43

43:                                               ; preds = %5
  store i32 %41, ptr addrspace(5) %17, align 4
  br label %44

44:                                               ; preds = %43, %5
  %45 = zext i1 %42 to i8
  store i8 %45, ptr addrspace(5) %19, align 1, !tbaa !17
  %46 = load i8, ptr addrspace(5) %19, align 1, !tbaa !17, !range !19, !noundef !20
  %47 = trunc i8 %46 to i1
  %48 = load i32, ptr addrspace(5) %11, align 4, !tbaa !13
  %49 = xor i32 %48, 5
  %50 = load ptr addrspace(1), ptr addrspace(5) %8, align 8, !tbaa !9
  %51 = getelementptr inbounds i32, ptr addrspace(1) %50, i64 0
  store volatile i32 %49, ptr addrspace(1) %51, align 4, !tbaa !13
  %52 = load i32, ptr addrspace(5) %17, align 4, !tbaa !13
  %53 = load ptr addrspace(1), ptr addrspace(5) %7, align 8, !tbaa !9
  %54 = getelementptr inbounds i8, ptr addrspace(1) %53, i64 128
  store i32 %52, ptr addrspace(1) %54, align 4, !tbaa !13
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %17) #2
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %13) #2
  call void @llvm.lifetime.end.p5(i64 8, ptr addrspace(5) %12) #2
  call void @llvm.lifetime.end.p5(i64 4, ptr addrspace(5) %11) #2
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p5(i64 immarg, ptr addrspace(5) nocapture) #1

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p5(i64 immarg, ptr addrspace(5) nocapture) #1

attributes #0 = { alwaysinline convergent norecurse nounwind "amdgpu-flat-work-group-size"="1,256" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx900" "target-features"="+16-bit-insts,+ci-insts,+dpp,+gfx8-insts,+gfx9-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nounwind }

!llvm.module.flags = !{!0, !1, !2}
!opencl.ocl.version = !{!3}
!llvm.ident = !{!4}

!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 8, !"PIC Level", i32 2}
!3 = !{i32 2, i32 0}
!4 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
!5 = !{i32 1, i32 1, i32 1, i32 0, i32 0}
!6 = !{!"none", !"none", !"none", !"none", !"none"}
!7 = !{!"int*", !"char*", !"uint*", !"uint", !"uint"}
!8 = !{!"", !"", !"volatile", !"", !""}
!9 = !{!10, !10, i64 0}
!10 = !{!"any pointer", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C/C++ TBAA"}
!13 = !{!14, !14, i64 0}
!14 = !{!"int", !11, i64 0}
!15 = !{!16, !16, i64 0}
!16 = !{!"long", !11, i64 0}
!17 = !{!18, !18, i64 0}
!18 = !{!"bool", !11, i64 0}
!19 = !{i8 0, i8 2}
!20 = !{}
