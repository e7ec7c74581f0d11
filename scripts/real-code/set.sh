#!/bin/sh
# set.sh OUT [CHECKOUTS] compiles the set of real PTX files into the folder OUT: by nvcc 11.8 and 12.4 (front.sh), for compute_70 where the code
# allows it. What is there stays as it is. Without CHECKOUTS, which has a folder for each repository below, only what needs the headers alone is made.
#
#   cuda-samples    github.com/NVIDIA/cuda-samples           c94ff366aed18c797b8a85dfaac7817b0228b420
#
# Code of others is compiled where it is and never copied. A source that a release refuses is named on standard error.
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
make() { # project, name, architecture, source, further arguments
	project=$1 name=$2 arch=$3 source=$4
	shift 4
	for release in 11.8 12.4; do
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
exit 0
