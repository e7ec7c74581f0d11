
source_filename = "k.cl"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
target triple = "amdgcn-amd-amdhsa"

; Function Attrs: alwaysinline nofree norecurse nounwind
define protected amdgpu_kernel void @k(i32 addrspace(1)* noundef %0, i8 addrspace(1)* nocapture noundef %1, i32 addrspace(1)* noundef %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 !kernel_arg_addr_space !4 !kernel_arg_access_qual !5 !kernel_arg_type !6 !kernel_arg_base_type !6 !kernel_arg_type_qual !7 {
  %6 = load volatile i32, i32 addrspace(1)* %0, align 4, !tbaa !8
  fence syncscope("agent") acquire
  %7 = and i32 %6, -2147483648
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, i8 addrspace(1)* %1, i64 64
  %10 = getelementptr inbounds i8, i8 addrspace(1)* %9, i64 %8
  %11 = bitcast i8 addrspace(1)* %10 to i32 addrspace(1)*
  %12 = load atomic i32, i32 addrspace(1)* %11 syncscope("agent-one-as") acquire, align 4
  %13 = atomicrmw add i32 addrspace(1)* %0, i32 %12 syncscope("workgroup-one-as") monotonic, align 4
  %14 = cmpxchg i32 addrspace(1)* %0, i32 %3, i32 5 syncscope("one-as") acq_rel acquire, align 4
  %15 = extractvalue { i32, i1 } %14, 0
  %16 = xor i32 %6, 5
  store volatile i32 %16, i32 addrspace(1)* %2, align 4, !tbaa !8
  %17 = getelementptr inbounds i8, i8 addrspace(1)* %1, i64 128
  %18 = bitcast i8 addrspace(1)* %17 to i32 addrspace(1)*
  store i32 %15, i32 addrspace(1)* %18, align 4, !tbaa !8
  ret void
}

attributes #0 = { alwaysinline nofree norecurse nounwind "amdgpu-flat-work-group-size"="1,256" "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx900" "target-features"="+16-bit-insts,+ci-insts,+dpp,+flat-address-space,+gfx8-insts,+gfx9-insts,+s-memrealtime,+s-memtime-inst" "uniform-work-group-size"="false" }

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
!9 = !{!"int", !10, i64 0}
!10 = !{!"omnipotent char", !11, i64 0}
!11 = !{!"Simple C/C++ TBAA"}
