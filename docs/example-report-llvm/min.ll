target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @min_T0(ptr addrspace(1) %p0, ptr addrspace(1) %p1, ptr addrspace(1) %out, i32 %v0, i32 %v1) {
entry:
  store i32 %v0, ptr addrspace(1) %p1, align 4                                       ; #0
  %q2 = atomicrmw xchg ptr addrspace(1) %p0, i32 %v1 syncscope("device") release     ; #1
  %r3 = getelementptr i32, ptr addrspace(1) %out, i64 4
  store volatile i32 %q2, ptr addrspace(1) %r3, align 4
  ret void
}

define ptx_kernel void @min_T1(ptr addrspace(1) %p0, ptr addrspace(1) %p1, ptr addrspace(1) %out, i32 %v0, i32 %v1, i32 %tok) {
entry:
  %q1 = atomicrmw xchg ptr addrspace(1) %p0, i32 %v1 syncscope("device") acquire     ; #0
  %q2 = icmp eq i32 %q1, 0
  br i1 %q2, label %then3, label %done3
then3:
  %q4 = load i32, ptr addrspace(1) %p1, align 4                                      ; #1
  br label %done3
done3:
  %phi5 = phi i32 [ %tok, %entry ], [ %q4, %then3 ]
  %phi6 = phi i32 [ %v0, %entry ], [ %q4, %then3 ]
  %r7 = getelementptr i32, ptr addrspace(1) %out, i64 0
  store volatile i32 %q1, ptr addrspace(1) %r7, align 4
  %r8 = getelementptr i32, ptr addrspace(1) %out, i64 4
  store volatile i32 %phi5, ptr addrspace(1) %r8, align 4
  ret void
}
