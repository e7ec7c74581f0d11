
source_filename = "k.cl"
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@.str = private unnamed_addr addrspace(4) constant [6 x i8] c"agent\00", align 1

; Function Attrs: alwaysinline convergent norecurse nounwind
define protected amdgpu_kernel void @k(ptr addrspace(1) noundef align 4 %0, ptr addrspace(1) noundef align 1 %1, ptr addrspace(1) noundef align 4 %2, i32 noundef %3, i32 noundef %4) #0 !kernel_arg_addr_space !9 !kernel_arg_access_qual !10 !kernel_arg_type !11 !kernel_arg_base_type !11 !kernel_arg_type_qual !12 {
  %6 = alloca ptr addrspace(1), align 8, addrspace(5)
  %7 = alloca ptr addrspace(1), align 8, addrspace(5)
  %8 = alloca ptr addrspace(1), align 8, addrspace(5)
  %9 = alloca i32, align 4, addrspace(5)
  %10 = alloca i32, align 4, addrspace(5)
  %11 = addrspacecast ptr addrspace(5) %6 to ptr
  %12 = addrspacecast ptr addrspace(5) %7 to ptr
  %13 = addrspacecast ptr addrspace(5) %8 to ptr
  %14 = addrspacecast ptr addrspace(5) %9 to ptr
  %15 = addrspacecast ptr addrspace(5) %10 to ptr
  store ptr addrspace(1) %0, ptr %11, align 8, !tbaa !13
  store ptr addrspace(1) %1, ptr %12, align 8, !tbaa !16
  store ptr addrspace(1) %2, ptr %13, align 8, !tbaa !13
  store i32 %3, ptr %14, align 4, !tbaa !5
  store i32 %4, ptr %15, align 4, !tbaa !5
  %16 = load ptr addrspace(1), ptr %11, align 8, !tbaa !13
  %17 = load ptr addrspace(1), ptr %12, align 8, !tbaa !16
  %18 = load ptr addrspace(1), ptr %13, align 8, !tbaa !13
  %19 = load i32, ptr %14, align 4, !tbaa !5
  %20 = load i32, ptr %15, align 4, !tbaa !5
  call void @__clang_ocl_kern_imp_k(ptr addrspace(1) noundef align 4 %16, ptr addrspace(1) noundef align 1 %17, ptr addrspace(1) noundef align 4 %18, i32 noundef %19, i32 noundef %20) #3
  ret void
}

; Function Attrs: alwaysinline convergent norecurse nounwind
define protected void @__clang_ocl_kern_imp_k(ptr addrspace(1) noundef align 4 %0, ptr addrspace(1) noundef align 1 %1, ptr addrspace(1) noundef align 4 %2, i32 noundef %3, i32 noundef %4) #1 !kernel_arg_addr_space !9 !kernel_arg_access_qual !10 !kernel_arg_type !11 !kernel_arg_base_type !11 !kernel_arg_type_qual !12 {
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
  %20 = addrspacecast ptr addrspace(5) %6 to ptr
  %21 = addrspacecast ptr addrspace(5) %7 to ptr
  %22 = addrspacecast ptr addrspace(5) %8 to ptr
  %23 = addrspacecast ptr addrspace(5) %9 to ptr
  %24 = addrspacecast ptr addrspace(5) %10 to ptr
  %25 = addrspacecast ptr addrspace(5) %14 to ptr
  %26 = addrspacecast ptr addrspace(5) %15 to ptr
  %27 = addrspacecast ptr addrspace(5) %16 to ptr
  %28 = addrspacecast ptr addrspace(5) %18 to ptr
  %29 = addrspacecast ptr addrspace(5) %19 to ptr
  store ptr addrspace(1) %0, ptr %20, align 8, !tbaa !13
  store ptr addrspace(1) %1, ptr %21, align 8, !tbaa !16
  store ptr addrspace(1) %2, ptr %22, align 8, !tbaa !13
  store i32 %3, ptr %23, align 4, !tbaa !5
  store i32 %4, ptr %24, align 4, !tbaa !5
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %11) #4
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %12) #4
  %30 = load ptr addrspace(1), ptr %20, align 8, !tbaa !13
  %31 = load volatile i32, ptr addrspace(1) %30, align 4, !tbaa !5
  store i32 %31, ptr addrspace(5) %11, align 4, !tbaa !5
  fence syncscope("agent") acquire
  %32 = load i32, ptr addrspace(5) %11, align 4, !tbaa !5
  %33 = and i32 %32, -2147483648
  %34 = zext i32 %33 to i64
  store i64 %34, ptr addrspace(5) %12, align 8, !tbaa !18
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %13) #4
  %35 = load ptr addrspace(1), ptr %21, align 8, !tbaa !16
  %36 = getelementptr inbounds i8, ptr addrspace(1) %35, i64 64
  %37 = load i64, ptr addrspace(5) %12, align 8, !tbaa !18
  %38 = getelementptr inbounds nuw i8, ptr addrspace(1) %36, i64 %37
  %39 = load atomic i32, ptr addrspace(1) %38 syncscope("agent-one-as") acquire, align 4
  store i32 %39, ptr %25, align 4
  %40 = load i32, ptr %25, align 4, !tbaa !5
  store i32 %40, ptr addrspace(5) %13, align 4, !tbaa !5
  %41 = load ptr addrspace(1), ptr %20, align 8, !tbaa !13
  %42 = load i32, ptr addrspace(5) %13, align 4, !tbaa !5
  store i32 %42, ptr %26, align 4, !tbaa !5
  %43 = load i32, ptr %26, align 4
  %44 = atomicrmw add ptr addrspace(1) %41, i32 %43 syncscope("workgroup-one-as") monotonic, align 4, !amdgpu.no.fine.grained.memory !20, !amdgpu.no.remote.memory !20
  store i32 %44, ptr %27, align 4
  %45 = load i32, ptr %27, align 4, !tbaa !5
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %17) #4
  %46 = load i32, ptr %23, align 4, !tbaa !5
  store i32 %46, ptr addrspace(5) %17, align 4, !tbaa !5
  %47 = load ptr addrspace(1), ptr %20, align 8, !tbaa !13
  store i32 5, ptr %28, align 4, !tbaa !5
  %48 = load i32, ptr addrspace(5) %17, align 4
  %49 = load i32, ptr %28, align 4
  %50 = cmpxchg ptr addrspace(1) %47, i32 %48, i32 %49 syncscope("one-as") acq_rel acquire, align 4
  %51 = extractvalue { i32, i1 } %50, 0
  %52 = extractvalue { i32, i1 } %50, 1
  br i1 %52, label %54, label %53

53:                                               ; preds = %5
  store i32 %51, ptr addrspace(5) %17, align 4
  br label %54

54:                                               ; preds = %53, %5
  %55 = zext i1 %52 to i8
  store i8 %55, ptr %29, align 1, !tbaa !21
  %56 = load i8, ptr %29, align 1, !tbaa !21, !range !23, !noundef !20
  %57 = trunc i8 %56 to i1
  %58 = load i32, ptr addrspace(5) %11, align 4, !tbaa !5
  %59 = xor i32 %58, 5
  %60 = load ptr addrspace(1), ptr %22, align 8, !tbaa !13
  %61 = getelementptr inbounds i32, ptr addrspace(1) %60, i64 0
  store volatile i32 %59, ptr addrspace(1) %61, align 4, !tbaa !5
  %62 = load i32, ptr addrspace(5) %17, align 4, !tbaa !5
  %63 = load ptr addrspace(1), ptr %21, align 8, !tbaa !16
  %64 = getelementptr inbounds i8, ptr addrspace(1) %63, i64 128
  store i32 %62, ptr addrspace(1) %64, align 4, !tbaa !5
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %17) #4
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %13) #4
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %12) #4
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %11) #4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p5(ptr addrspace(5) captures(none)) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p5(ptr addrspace(5) captures(none)) #2

attributes #0 = { alwaysinline convergent norecurse nounwind "amdgpu-flat-work-group-size"="1,256" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx900" "target-features"="+16-bit-insts,+ci-insts,+cube-insts,+cvt-pknorm-vop2-insts,+dpp,+gfx8-insts,+gfx9-insts,+lerp-inst,+qsad-insts,+s-memrealtime,+s-memtime-inst,+sad-insts,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #1 = { alwaysinline convergent norecurse nounwind "amdgpu-flat-work-group-size"="1,256" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx900" "target-features"="+16-bit-insts,+ci-insts,+cube-insts,+cvt-pknorm-vop2-insts,+dpp,+gfx8-insts,+gfx9-insts,+lerp-inst,+qsad-insts,+s-memrealtime,+s-memtime-inst,+sad-insts,+wavefrontsize64" }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { convergent nounwind }
attributes #4 = { nounwind }

!llvm.module.flags = !{!0, !1, !2}
!opencl.ocl.version = !{!3}
!llvm.ident = !{!4}
!llvm.errno.tbaa = !{!5}

!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 8, !"PIC Level", i32 2}
!3 = !{i32 2, i32 0}
!4 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!5 = !{!6, !6, i64 0}
!6 = !{!"int", !7, i64 0}
!7 = !{!"omnipotent char", !8, i64 0}
!8 = !{!"Simple C/C++ TBAA"}
!9 = !{i32 1, i32 1, i32 1, i32 0, i32 0}
!10 = !{!"none", !"none", !"none", !"none", !"none"}
!11 = !{!"int*", !"char*", !"uint*", !"uint", !"uint"}
!12 = !{!"", !"", !"volatile", !"", !""}
!13 = !{!14, !14, i64 0}
!14 = !{!"p1 int", !15, i64 0}
!15 = !{!"any pointer", !7, i64 0}
!16 = !{!17, !17, i64 0}
!17 = !{!"p1 omnipotent char", !15, i64 0}
!18 = !{!19, !19, i64 0}
!19 = !{!"long", !7, i64 0}
!20 = !{}
!21 = !{!22, !22, i64 0}
!22 = !{!"bool", !7, i64 0}
!23 = !{i8 0, i8 2}
