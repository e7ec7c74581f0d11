#!/bin/sh
# set.sh OUT [CHECKOUTS] compiles the set of real PTX files into the folder OUT: by nvcc 11.8 and 12.4 (front.sh), for compute_70 where the code
# allows it. What is there stays as it is. Without CHECKOUTS, which has a folder for each repository below, only what needs the headers alone is made.
#
#   cuda-samples    github.com/NVIDIA/cuda-samples           c94ff366aed18c797b8a85dfaac7817b0228b420
#   nccl            github.com/NVIDIA/nccl                   5067397c2676d5aed50042fc39e5c8ee96eb0027
#   cutlass         github.com/NVIDIA/cutlass                7107b05535f8977f5ecb9d01ee203205b1fd9bc4
#   ThunderKittens  github.com/HazyResearch/ThunderKittens   0b55588d2769dde0c7a9a606ffc015b0ca7a9551
#   DeepEP          github.com/deepseek-ai/DeepEP            dd758caf451848bd150e1046af3d0a73e5fff38d
#   GPUPrefixSums   github.com/b0nes164/GPUPrefixSums        98d93a4e9ed2f3c8353119515bf9be90a2e137ad
#   llm.c           github.com/karpathy/llm.c                f1e2ace651495b74ae22d45d1723443fd00ecd3a
#
# Code of others is compiled where it is and never copied. A source that a release refuses is named on standard error. PTX of Triton is made where
# Triton and a GPU are: triton_kernels.py.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?folder for PTX}
checkouts=${2:-}
fronts=${FRONTS:-${XDG_CACHE_HOME:-$HOME/.cache}/optcheck/fronts}
nvcc() { # release, arguments
	root=$fronts/$1/root
	unsupported=
	[ "$1" = 11.8 ] && unsupported=-allow-unsupported-compiler
	shift
	PATH=$root/usr/bin:/usr/bin:/bin:$root/usr/lib/nvidia-cuda-toolkit/bin LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu \
		"$root/usr/lib/nvidia-cuda-toolkit/bin/nvcc" $unsupported -isystem "$root/usr/include" -std=c++17 -ptx "$@"
}
if [ "$1" = --nvcc ]; then
	shift
	nvcc "$@"
	exit
fi
mkdir -p "$out"
releases="11.8 12.4"
make() { # project, name, architecture, source, further arguments
	project=$1 name=$2 arch=$3 source=$4
	shift 4
	for release in $releases; do
		to=$out/$project-$name-$release.ptx
		[ -s "$to" ] && continue
		timeout 300 nice "$here/set.sh" --nvcc "$release" -arch="compute_$arch" "$@" "$source" -o "$to.part" 2>"$to.err" && mv "$to.part" "$to" && rm "$to.err" ||
			echo "set.sh: $project-$name by $release: $(grep -m 1 error "$to.err")" >&2
	done
}
for release in 11.8 12.4; do "$here/front.sh" "$release" "$fronts" || exit; done
make cub device 70 "$here/src/cub.cu"
make cub radix 70 "$here/src/cub_radix.cu"
make libcudacxx sync 70 "$here/src/libcudacxx.cu"
make own cooperative 70 "$here/src/cooperative.cu"
[ -n "$checkouts" ] || exit 0
samples=$checkouts/cuda-samples
for pair in simpleCooperativeGroups:70 conjugateGradientMultiBlockCG:70 reductionMultiBlockCG:70 threadFenceReduction_kernel:70 warpAggregatedAtomicsCG:70 \
	globalToShmemAsyncCopy:80 simpleAWBarrier:80 simpleAtomicIntrinsics:70 systemWideAtomics:70 shfl_scan:70 mergeSort:70 bitonic:70 histogram256:70 histogram64:70 \
	scan:70 binaryPartitionCG:80 reduction_kernel:70 jacobi:70 scalarProd:70 bisect_large:70 oddEvenMergeSort:70 bitonicSort:70 simpleVoteIntrinsics:70 \
	streamOrderedAllocation:70 bf16TensorCoreGemm:80 cudaTensorCoreGemm:70; do
	source=$(find "$samples/Samples" -name "${pair%:*}.cu" 2>/dev/null | head -n 1)
	[ -n "$source" ] && make cuda-samples "${pair%:*}" "${pair#*:}" "$source" -I "$samples/Common"
done

# NCCL generates its sources, and a header with its version.
nccl=$checkouts/nccl
if [ -d "$nccl" ]; then
	work=${out%/}.nccl # not in OUT: an audit of the folder would find its sources
	mkdir -p "$work/include"
	version() { sed -n "s/^NCCL_$1 *:= *//p" "$nccl/makefiles/version.mk"; }
	major=$(version MAJOR) minor=$(version MINOR) patch=$(version PATCH)
	sed -e "s/\${nccl:Major}/$major/;s/\${nccl:Minor}/$minor/;s/\${nccl:Patch}/$patch/;s/\${nccl:Suffix}//" \
		-e "s/\${nccl:Version}/$((major * 10000 + minor * 100 + patch))/" "$nccl/src/nccl.h.in" >"$work/include/nccl.h"
	ln -sfn "$nccl/src/transport/net_ib/gdaki/doca-gpunetio/include" "$work/include/doca_gpunetio"
	python3 "$nccl/src/device/generate.py" "$work/collectives" 'AllReduce Sum f32 (RING|TREE) *|AllGather RING *|Broadcast RING *|SendRecv'
	python3 "$nccl/src/device/symmetric/generate.py" "$work/symmetric" >/dev/null
	for kernel in collectives/sendrecv collectives/all_reduce_sum_f32 collectives/all_gather collectives/broadcast symmetric/all_gather \
		symmetric/all_reduce_sum_f32 symmetric/reduce_scatter_sum_f32; do
		make nccl "$(echo $kernel | tr / -)" 80 "$work/$kernel.cu" --expt-extended-lambda -DNCCL_OS_LINUX -DDOCA_VERBS_USE_CUDA_WRAPPER \
			-DDOCA_VERBS_USE_NET_WRAPPER -I "$nccl/src/device" -I "$nccl/src" -I "$work/include" -I "$nccl/src/include" -I "$nccl/src/include/plugin"
	done
fi
ep=$checkouts/DeepEP
for kernel in intranode layout; do
	make deepep $kernel 90 "$ep/csrc/kernels/legacy/$kernel.cu" --extended-lambda --expt-relaxed-constexpr -I "$ep/deep_ep/include"
	make deepep $kernel-sm_80 80 "$ep/csrc/kernels/legacy/$kernel.cu" --extended-lambda --expt-relaxed-constexpr -DDISABLE_SM90_FEATURES -I "$ep/deep_ep/include"
done
for kernel in global_norm layernorm_backward attention_forward softmax_forward classifier_fused; do
	make llm.c $kernel 80 "$checkouts/llm.c/dev/cuda/$kernel.cu" -I "$checkouts/llm.c"
done
releases=12.4 # the rest needs C++20, or newer headers
make gpuprefixsums scans 70 "$checkouts/GPUPrefixSums/GPUPrefixSumsCUDA/GPUPrefixSumsCUDA.cu"
cutlass=$checkouts/cutlass
for pair in 47_ampere_gemm_universal_streamk/ampere_gemm_universal_streamk:80 41_fused_multi_head_attention/fused_multihead_attention_fixed_seqlen:80 \
	48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm:90a; do
	file=$cutlass/examples/${pair%:*}.cu
	make cutlass "$(basename "${pair%:*}")" "${pair#*:}" "$file" --expt-relaxed-constexpr -I "$cutlass/include" -I "$cutlass/examples/common" \
		-I "$cutlass/tools/util/include" -I "$(dirname "$file")"
done
kittens() { # name, architecture, what the library calls it, source
	make thunderkittens "$1" "$2" "$checkouts/ThunderKittens/kernels/$4.cu" -std=c++20 -DKITTENS_"$3" -DNDEBUG --use_fast_math --expt-extended-lambda \
		--expt-relaxed-constexpr -I "$checkouts/ThunderKittens/include" -I "$checkouts/ThunderKittens/prototype"
}
kittens attention 90a HOPPER attention/mha_h100/mha_h100
kittens linear-attention 90a HOPPER based/linear_attn
kittens gemm 90a HOPPER gemm/bf16_h100/bf16_h100_gemm
kittens layernorm 90a HOPPER layernorm/layernorm
kittens layernorm-sm_80 80 AMPERE layernorm/layernorm
kittens gemm-tiled 90a HOPPER gemm/educational_h100/level_04
kittens gemm-pipelined 90a HOPPER gemm/educational_h100/level_07
kittens all-reduce 90a HOPPER parallel/all_reduce_educational/all_reduce_educational
exit 0
