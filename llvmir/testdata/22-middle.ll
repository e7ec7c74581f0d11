
source_filename = "k.cl"
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

; Function Attrs: alwaysinline nofree norecurse nounwind
define protected amdgpu_kernel void @k(ptr addrspace(1) noundef align 4 %0, ptr addrspace(1) noundef align 1 captures(none) %1, ptr addrspace(1) noundef align 4 %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 !kernel_arg_addr_space !9 !kernel_arg_access_qual !10 !kernel_arg_type !11 !kernel_arg_base_type !11 !kernel_arg_type_qual !12 {
  %6 = load volatile i32, ptr addrspace(1) %0, align 4, !tbaa !5
  fence syncscope("agent") acquire
  %7 = and i32 %6, -2147483648
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 64
  %10 = getelementptr inbounds nuw i8, ptr addrspace(1) %9, i64 %8
  %11 = load atomic i32, ptr addrspace(1) %10 syncscope("agent-one-as") acquire, align 4
  %12 = atomicrmw add ptr addrspace(1) %0, i32 %11 syncscope("workgroup-one-as") monotonic, align 4, !amdgpu.no.fine.grained.memory !13, !amdgpu.no.remote.memory !13
  %13 = cmpxchg ptr addrspace(1) %0, i32 %3, i32 5 syncscope("one-as") acq_rel acquire, align 4
  %14 = extractvalue { i32, i1 } %13, 0
  %15 = xor i32 %6, 5
  store volatile i32 %15, ptr addrspace(1) %2, align 4, !tbaa !5
  %16 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 128
  store i32 %14, ptr addrspace(1) %16, align 4, !tbaa !5
  ret void
}

; Function Attrs: alwaysinline nofree norecurse nounwind
define protected void @__clang_ocl_kern_imp_k(ptr addrspace(1) noundef align 4 %0, ptr addrspace(1) noundef align 1 captures(none) %1, ptr addrspace(1) noundef align 4 %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 !kernel_arg_addr_space !9 !kernel_arg_access_qual !10 !kernel_arg_type !11 !kernel_arg_base_type !11 !kernel_arg_type_qual !12 {
  %6 = load volatile i32, ptr addrspace(1) %0, align 4, !tbaa !5
  fence syncscope("agent") acquire
  %7 = and i32 %6, -2147483648
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 64
  %10 = getelementptr inbounds nuw i8, ptr addrspace(1) %9, i64 %8
  %11 = load atomic i32, ptr addrspace(1) %10 syncscope("agent-one-as") acquire, align 4
  %12 = atomicrmw add ptr addrspace(1) %0, i32 %11 syncscope("workgroup-one-as") monotonic, align 4, !amdgpu.no.fine.grained.memory !13, !amdgpu.no.remote.memory !13
  %13 = cmpxchg ptr addrspace(1) %0, i32 %3, i32 5 syncscope("one-as") acq_rel acquire, align 4
  %14 = extractvalue { i32, i1 } %13, 0
  %15 = xor i32 %6, 5
  store volatile i32 %15, ptr addrspace(1) %2, align 4, !tbaa !5
  %16 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 128
  store i32 %14, ptr addrspace(1) %16, align 4, !tbaa !5
  ret void
}

attributes #0 = { alwaysinline nofree norecurse nounwind "amdgpu-flat-work-group-size"="1,256" "amdgpu-no-cluster-id-x" "amdgpu-no-cluster-id-y" "amdgpu-no-cluster-id-z" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-flat-scratch-init" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx900" "target-features"="+16-bit-insts,+ci-insts,+cube-insts,+cvt-pknorm-vop2-insts,+dpp,+gfx8-insts,+gfx9-insts,+lerp-inst,+qsad-insts,+s-memrealtime,+s-memtime-inst,+sad-insts,+wavefrontsize64" "uniform-work-group-size"="false" }

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
!13 = !{}
