target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @min_T0(ptr addrspace(1) %p0, ptr addrspace(1) %p1, ptr addrspace(1) %out, i32 %v0, i32 %v1) {
entry:
  store i32 %v0, ptr addrspace(1) %p1, align 4                                       ; #0
  %q2 = atomicrmw xchg ptr addrspace(1) %p0, i32 %v1 syncscope("device") release     ; #1
  %r3 = getelementptr i32, ptr addrspace(1) %out, i64 4
  store volatile i32 %q2, ptr addrspace(1) %r3, align 4
  ret void
}

define ptx_kernel void @min_T1(ptr addrspace(1) %p0, ptr addrspace(1) %p1, ptr addrspace(1) %out, i32 %v0) {
entry:
  %q1 = atomicrmw xchg ptr addrspace(1) %p0, i32 %v0 syncscope("device") acquire     ; #0
  %q2 = load i32, ptr addrspace(1) %p1, align 4                                      ; #1
  %r3 = getelementptr i32, ptr addrspace(1) %out, i64 0
  store volatile i32 %q1, ptr addrspace(1) %r3, align 4
  %r4 = getelementptr i32, ptr addrspace(1) %out, i64 4
  store volatile i32 %q2, ptr addrspace(1) %r4, align 4
  ret void
}
