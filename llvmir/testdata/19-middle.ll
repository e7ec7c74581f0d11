
source_filename = "k.cl"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: alwaysinline nofree norecurse nounwind
define protected amdgpu_kernel void @k(ptr addrspace(1) noundef align 4 %0, ptr addrspace(1) nocapture noundef align 1 %1, ptr addrspace(1) noundef align 4 %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 !kernel_arg_addr_space !5 !kernel_arg_access_qual !6 !kernel_arg_type !7 !kernel_arg_base_type !7 !kernel_arg_type_qual !8 {
  %6 = load volatile i32, ptr addrspace(1) %0, align 4, !tbaa !9
  fence syncscope("agent") acquire
  %7 = and i32 %6, -2147483648
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 64
  %10 = getelementptr inbounds i8, ptr addrspace(1) %9, i64 %8
  %11 = load atomic i32, ptr addrspace(1) %10 syncscope("agent-one-as") acquire, align 4
  %12 = atomicrmw add ptr addrspace(1) %0, i32 %11 syncscope("workgroup-one-as") monotonic, align 4
  %13 = cmpxchg ptr addrspace(1) %0, i32 %3, i32 5 syncscope("one-as") acq_rel acquire, align 4
  %14 = extractvalue { i32, i1 } %13, 0
  %15 = xor i32 %6, 5
  store volatile i32 %15, ptr addrspace(1) %2, align 4, !tbaa !9
  %16 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 128
  store i32 %14, ptr addrspace(1) %16, align 4, !tbaa !9
  ret void
}

attributes #0 = { alwaysinline nofree norecurse nounwind "amdgpu-flat-work-group-size"="1,256" "amdgpu-no-agpr" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx900" "target-features"="+16-bit-insts,+ci-insts,+dpp,+gfx8-insts,+gfx9-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }

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
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C/C++ TBAA"}
