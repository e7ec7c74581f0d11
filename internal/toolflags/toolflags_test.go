package toolflags

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheck: what changes code passes, whatever the form of the value.
func TestCheck(t *testing.T) {
	for tool, lines := range map[string][]string{
		"ptxas": {"", "-v", "--maxrregcount=32", "-maxrregcount 32", "--maxrregcount archmax", "-O2", "--opt-level 1", "-dlcm=cg",
			"--def-load-cache cv",
			"-fmad false", "-lineinfo -g", "-warn-spills", "--warn-on-spills", "--suppress-stack-size-warning", "-maxntid 32,1,1",
			"-Werror -v"},
		"clang": {"-O1", "-DN=4 -UX", "-cl-std=CL2.0", "-cl-fast-relaxed-math", "-ffast-math", "-fno-unroll-loops",
			"-mllvm -amdgpu-early-inline-all=true",
			"-mllvm=-enable-misched=0", "-Wno-everything", "-Werror", "-mwavefrontsize64", "-ffp-contract=off", "-Xcuda-ptxas -v"},
		"llc": {"-O0", "-mattr=+xnack,-sramecc", "--mattr +xnack", "-amdgpu-enable-lower-module-lds=false", "-disable-machine-sink",
			"-verify-machineinstrs"},
		"nvcc": {"-DN=4", "-D N=4", "--use_fast_math", "-std=c++17", "-std c++17", "--fmad=false", "-Xptxas -v,-O1",
			"-Xptxas=-dlcm=cg", "-rdc=true"},
	} {
		for _, line := range lines {
			require.NoErrorf(t, Check(tool, strings.Fields(line)), "%s %s", tool, line)
		}
	}
}

// hostile are words that load, read, write or start something in some tool, or hide what does.
var hostile = []string{
	"-fplugin=evil.so", "-fpass-plugin=evil.so", "-Xclang -load", "-Xclang=-load", "-load evil.so", "-load=evil.so",
	"--load-pass-plugin=e.so", "-MD", "-MF victim",
	"-MFvictim", "-MJvictim", "-o victim", "-ovictim", "--output=victim", "-o=victim", "--output-file victim",
	"--output-file=victim", "@args", "--config=evil.cfg",
	"--config evil.cfg", "-optf evil", "--options-file=evil", "-ias x", "--input-as-string=x", "-B.", "-Bevil", "-ccbin=evil",
	"-ccbin evil",
	"--compiler-bindir=evil", "-ldir evil", "-Xcompiler -fplugin=e", "-Xlinker x", "-Wl,x", "-Wa,x", "-Wp,-MD,victim",
	"-include evil", "-includeevil", "-I.", "-I/etc",
	"-isystem /", "-idirafter /", "-x cuda", "-save-temps", "--save-temps", "--keep", "-keep-dir=.", "-ftime-trace=victim",
	"-fsave-optimization-record=victim",
	"-foptimization-record-file=victim", "-fdiagnostics-add-output=victim", "-serialize-diagnostics victim", "-fcrash-diagnostics-dir=.",
	"-fprofile-use=victim", "-fprofile-generate=victim", "-fmodules", "-fmodule-file=x", "-fmodules-cache-path=x",
	"-fembed-bitcode", "-working-directory=/",
	"-mllvm -info-output-file=victim", "-mllvm -pass-remarks-output=victim", "-mllvm -load=evil.so", "-mllvm=-load=evil.so", "-mllvm @x",
	"-pass-remarks-output=victim", "-stats-json", "-filetype=obj", "-print-after-all", "-time-passes", "-info-output-file=victim",
	"-opt-bisect-limit=1",
	"-fuse-ld=evil", "-fintegrated-as", "-no-integrated-as", "-specs=evil", "-wrapper evil", "-###", "-E", "-M", "-dM", "-H", "-Rpass=.*",
	"--cuda-path=evil", "--ptxas-path=evil", "-gcc-toolchain=evil", "--sysroot=/", "-resource-dir=evil", "--driver-mode=x", "-cc1",
	"-DX=\n#include", "-DX=a b", "-DX=_Pragma(\"x\")", "-D", "-U", "-dlcm=/x", "-dlcm ../x", "-maxrregcount -o",
	"-maxrregcount=32,-o", "-O3,-o", "-v -o x",
	"-Xptxas -o,x", "-Xptxas=--output-file=x", "-Xptxas", "-Xcuda-ptxas -o=x", "--run", "-run", "--gpu-name=sm_80", "-arch=sm_80",
	"-gencode x", "-mcpu=gfx900",
	"-target x", "--target=x", "evil.cl", "./evil", "/etc/passwd", "-", "--", "", " -v", "-v ", "-v\n", "\x00", "-amdgpu-x=/etc",
	"-amdgpu-x=victim", "-enable-x=a.b",
	"-amdgpu-module-splitting-log-dir=1", "-mllvm -amdgpu-module-splitting-print-module-dotcfg=true", "-amdgpu-dump-hsa-metadata", "-mllvm=-disable-print=1",
	"-mattr=/x", "-mattr=@x", "-W@x", "-Wno-x,y", "--x=y",
}

// TestRefused: whatever else there is does not pass, of no tool, alone or between good words.
func TestRefused(t *testing.T) {
	for tool := range table {
		for _, line := range hostile {
			words := strings.SplitN(line, " ", 2)
			if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "-D") || strings.HasSuffix(line, " ") {
				words = []string{line}
			}
			require.Errorf(t, Check(tool, words), "%s %q", tool, words)
			require.Errorf(t, Check(tool, append([]string{"-O1"}, words...)), "%s %q", tool, words)
		}
	}
	require.Error(t, Check("gcc", []string{"-O1"}))
	require.NoError(t, Check("gcc", nil))
	require.ErrorContains(t, Check("clang", []string{"-O1", "-fplugin=evil.so"}),
		`"-fplugin=evil.so" is nothing that a file may tell clang`)
}
