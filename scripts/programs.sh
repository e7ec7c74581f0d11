#!/bin/sh
# programs.sh [FILE.cu ...] makes, of each program below program/cases, the PTX by the front end of CUDA 12.4 (scripts/real-code/front.sh installs
# it), and the OpenCL C by the C preprocessor. The PTX is for sm_70, so that every installed ptxas takes it for every target. Without files: of all.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- "$here"/../program/cases/*/*.cu
for cu; do
	to=${cu%.cu}
	"$here/real-code/set.sh" --nvcc 12.4 -arch=compute_70 "$cu" -o "$to.part"
	# The front end prints its own number, trailing blanks and empty lines, none of which says anything of the program.
	made="// Made of ${cu##*/} by scripts/programs.sh."
	{ echo "$made" && sed 's/[ \t]*$//; /^\/\//d' "$to.part" | cat -s; } >"$to.ptx"
	rm "$to.part"
	{ echo "$made" && cpp -P -nostdinc -D__OPENCL_VERSION__=300 -x c "$cu" | sed 's/((uint3)((uint)\(get_[a-z_]*\)(0), [01], [01])).x/(uint)\1(0)/g'; } >"$to.cl"
done
