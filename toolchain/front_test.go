package toolchain

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/internal/required"
)

// fakeNvcc answers like an nvcc: it refuses lines with a word of which it has never
// heard, and else writes PTX with a comment for each line.
const fakeNvcc = `#!/bin/sh
case $1 in
--version) printf '%s\n' 'nvcc: NVIDIA (R) Cuda compiler driver' 'Cuda compilation tools, release 12.4, V12.4.131' 'Build b.1'; exit;;
--list-gpu-arch) printf '%s\n' compute_70 compute_90 compute_80; exit;;
esac
stage=$1
for a in "$@"; do case $a in /proc/self/cwd/*) in=${a##*/};; esac; out=$a; done
if [ "$stage" = -E ]; then
	printf '# 1 "%s"\n' "/proc/self/cwd/$in" >$out
	n=0 read=$in
	while read -r l; do
		n=$((n+1))
		case $l in '#embed '*) read="$read \\
 ${l#* }";; '#include '*) printf '# 1 %s 1\nx\n# %d "%s" 2\n' "${l#* }" $((n+1)) "/proc/self/cwd/$in" >>$out;; *) echo "$l" >>$out;; esac
	done <$in
	echo "batch.ii: $read" >batch.d
	exit
fi
if n=$(grep -n unheard $in); then echo "batch.cu(${n%%:*}): error: identifier \"unheard\" is undefined" >&2; exit 2; fi
{ printf '.version 8.4\n.target sm_%s\n.address_size 64\n.file 1 "/proc/self/cwd/batch.cu"\n' "${2#*_}"; sed 's,^,// ,' $in; } >$out
`

func fakeFront(t *testing.T) *Toolchain {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nvcc"), []byte(fakeNvcc), 0o700))
	all, errs := DiscoverFronts(t.Context(), Options{Dirs: []string{dir}, DirsOnly: true, Cache: "off", Runner: NewRunner(2, patient.Long)})
	require.Empty(t, errs)
	require.Len(t, all, 1)
	return all[0]
}

func TestFront(t *testing.T) {
	f := fakeFront(t)
	require.Equal(t, "nvcc 12.4.131", f.ID)
	require.Equal(t, "nvcc-12.4", f.Name)
	require.Equal(t, "8.4", f.MaxPTX, "what it writes, not what it says")
	require.Equal(t, []string{"sm_70", "sm_80", "sm_90"}, f.Targets)
	res, err := f.CompileCUDA(t.Context(), CUDAJob{Job: Job{Target: "sm_80", Header: "// head\n", Units: []Unit{
		{"a", "one\n"}, {"b", "two\nunheard\n"}, {"c", "three\n"}}}})
	require.NoError(t, err)
	require.ErrorContains(t, res.Failed[1], `b:2: `)
	require.ErrorIs(t, res.Failed[1], ErrCompile)
	require.Len(t, res.Batches, 1)
	require.Equal(t, []int{0, 2}, res.Batches[0].Units)
	require.Equal(t, ".version 8.4\n.target sm_80\n.address_size 64\n.file 1 \"batch.cu\"\n// // head\n// one\n// three\n", string(res.Batches[0].Text))
	_, err = (&Toolchain{ID: "x", Kind: CUDA{}}).CompileCUDA(t.Context(), CUDAJob{})
	require.ErrorContains(t, err, "does not compile CUDA C++")

	ptxas := &Toolchain{ID: "ptxas 11.8.89", Name: "cuda-11.8", Version: "11.8.89", MaxPTX: "7.8", Ptxas: "/x/ptxas", Targets: []string{"sm_50", "sm_80"}, Kind: CUDA{}}
	pair := f.Kind.(*Front).with(f, ptxas)
	require.Equal(t, "nvcc 12.4.131 + ptxas 11.8.89", pair.ID)
	require.Equal(t, []string{"sm_80"}, pair.Targets)
	require.Equal(t, "7.8", pair.MaxPTX)
	for name, want := range map[string]bool{"12.4,11.8": true, "nvcc-12.4": true, "11.8": true, "nvcc-12.4+11.8": true, "12.4+cuda-11.8": true} {
		got, err := Find([]*Toolchain{pair}, strings.Split(name, ",")...)
		require.NoError(t, err, name)
		require.Equal(t, want, len(got) == 1, name)
	}
	require.Nil(t, f.Kind.(*Front).with(f, &Toolchain{Targets: []string{"sm_50"}, Kind: CUDA{}, MaxPTX: "7.8"}))
}

// A program may include its own files and the system's, nothing else.
func TestFrontConfined(t *testing.T) {
	f := fakeFront(t)
	dir := t.TempDir()
	own, outer := filepath.Join(dir, "program"), filepath.Join(dir, "outer")
	require.NoError(t, os.Mkdir(own, 0o700))
	require.NoError(t, os.Mkdir(outer, 0o700))
	for _, file := range []string{"program/own.h", "outer/x.h"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(own, "my own#$.h"), nil, 0o600))
	require.NoError(t, os.Symlink(filepath.Join(outer, "x.h"), filepath.Join(own, "link.h")))
	embeds := func(include string) string {
		return strings.NewReplacer(" ", `\ `, "#", `\#`, "$", "$$").Replace(include)
	}
	for _, c := range []struct {
		include string
		flags   []string
		ok      bool
	}{
		{own + "/own.h", nil, true},
		{own + "/my own#$.h", nil, true},
		{"<built-in>", nil, true},
		{outer + "/x.h", nil, false},
		{own + "/../outer/x.h", nil, false},
		{own + "/link.h", nil, false},
		{"/etc/passwd", nil, false},
		{outer + "/x.h", []string{"-I" + outer}, true},
		{outer + "/x.h", []string{"-I", outer}, true},
	} {
		for _, line := range []string{"#include \"" + c.include + "\"", "#embed " + embeds(c.include)} {
			job := CUDAJob{Folder: own, Confined: true, Job: Job{Target: "sm_80", Flags: c.flags,
				Units: []Unit{{"p.cu", "one\n" + line + "\n"}}}}
			res, err := f.CompileCUDA(t.Context(), job)
			require.NoError(t, err)
			if c.ok {
				require.Empty(t, res.Failed, c.include)
				continue
			}
			require.ErrorIs(t, res.Failed[0], ErrCompile, c.include)
			require.ErrorContains(t, res.Failed[0], "p.cu:2: ", c.include)
			require.ErrorContains(t, res.Failed[0], c.include+" lies outside")
			job.Confined = false
			res, err = f.CompileCUDA(t.Context(), job)
			require.NoError(t, err)
			require.Empty(t, res.Failed)
		}
	}
}

// TestMadeIncludes: a directive that macros make is one, wherever its line is broken and whatever comments are in it.
func TestMadeIncludes(t *testing.T) {
	for _, text := range []string{" # include \"x\"", "#include <x>", "/* a\n*/ %: import \"x\"", "/\\\n* *\\\n/ %\\\n: include X", "#in\\ \nclude \"x\"",
		" %\\\n:include X", "%??/\n:include X", "#pr\n#include X", "??= ??/\n/* */ /**/ include_next \"x\"", "int x;\r#\\\n embed \"x\"", "\v#\fimport x"} {
		inc := made([]byte("# 1 \"/proc/self/cwd/batch.cu\"\nint y;\n# 7 \"/a/b.h\" 1\n\n" + text + "\n"))
		require.NotNil(t, inc, text)
		require.Equal(t, "b.h", inc.from, text)
		require.GreaterOrEqual(t, inc.line, 8, text)
	}
	for _, text := range []string{"", "# 7 \"include\" 1", "#pragma include_alias", "char *s = \"#include\";", "int a # include;", "#define include", "# /* \n include"} {
		require.Nil(t, made([]byte(text)), text)
	}
}

// TestFrontWaits: a program that includes a pipe is refused after seconds, and is no hang of the compiler.
func TestFrontWaits(t *testing.T) {
	all, errs := DiscoverFronts(t.Context(), Options{})
	if len(all) == 0 {
		required.Missing(t, "no front end; optcheck toolchain install nvcc-12.4 installs one %v", errs)
	}
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.h"), 0o600))
	for _, f := range []*Toolchain{all[0], all[len(all)-1]} {
		job := CUDAJob{Folder: dir, Confined: true, Job: Job{Target: "sm_70", Units: []Unit{{"p.cu", "\n#include \"pipe.h\"\n"}}}}
		res, err := f.CompileCUDA(t.Context(), job)
		require.NoError(t, err)
		require.ErrorIs(t, res.Failed[0], ErrCompile, f.ID)
		require.NotErrorIs(t, res.Failed[0], ErrTimeout, f.ID)
		require.ErrorContains(t, res.Failed[0], "never comes", f.ID)
	}
}

// TestDiagnoseCUDA: messages of nvcc 11.8 and 12.4, g++ 12 and clang 19, as they printed them.
func TestDiagnoseCUDA(t *testing.T) {
	for _, c := range []struct {
		name, stderr string
		want         []Diagnostic
	}{
		{"g++", "/proc/self/cwd/batch.cu:4:10: fatal error: nofile.h: No such file or directory\n    4 | #include \"nofile.h\"\ncompilation terminated.\n",
			[]Diagnostic{{4, 10, "", "error", "nofile.h: No such file or directory"}}},
		{"g++ in a header", "In file included from /x/in.h:1,\n                 from /proc/self/cwd/batch.cu:2:\n/x/deep.h:7:2: error: #error no\n",
			[]Diagnostic{{0, 0, "", "error", "deep.h:7: #error no"}}},
		{"g++ in its header", "In file included from /proc/self/cwd/batch.cu:2:\n/x/in.h:7:2: error: #error no\n",
			[]Diagnostic{{2, 0, "", "error", "in.h:7: #error no"}}},
		{"nvcc", "/proc/self/cwd/batch.cu(2): warning #177-D: function \"q\" was declared but never referenced\n                   void q(int*p){ *p=x; }\n                        ^\n\n" +
			"/proc/self/cwd/batch.cu(6): error: identifier \"foo\" is undefined\n            void k3(float *p,int*o){ foo(); }\n",
			[]Diagnostic{{2, 0, "", "warning", "function \"q\" was declared but never referenced"}, {6, 0, "", "error", "identifier \"foo\" is undefined"}}},
		{"nvcc 12.4 in a header", "/root/usr/include/cuda/atomic_cuda.h(95): error: static assertion failed with \"atomic_ref does not support 1 or 2 byte types\"\n      static_assert(sizeof(_Tp) >= 4, \"\");\n          detected during:\n" +
			"            instantiation of class \"x\" at line 1291 of /root/usr/include/cuda/atomic\n            instantiation of class \"cuda::atomic_ref<_Tp, _Sco>\" at line 3 of /proc/self/cwd/batch.cu\n",
			[]Diagnostic{{3, 0, "", "error", "atomic_cuda.h:95: static assertion failed with \"atomic_ref does not support 1 or 2 byte types\""}}},
		{"nvcc 11.8 in a header", "/root/usr/include/atomic_cuda.h(111): error: static assertion failed with \"no\"\n          detected during:\n            instantiation of class \"x\" \n" +
			"/root/usr/include/cuda/std/atomic(178): here\n            instantiation of class \"y\" \n/proc/self/cwd/batch.cu(3): here\n",
			[]Diagnostic{{3, 0, "", "error", "atomic_cuda.h:111: static assertion failed with \"no\""}}},
		{"clang, a header instantiated", "In file included from /proc/self/cwd/batch.cu:1:\nIn file included from /x/atomic:14:\n/x/atomic_cuda.h:95:19: error: static assertion failed: no\n" +
			"/x/atomic:1291:22: note: in instantiation of template class 'x' requested here\n/proc/self/cwd/batch.cu:3:60: note: in instantiation of template class 'y' requested here\n",
			[]Diagnostic{{3, 0, "", "error", "atomic_cuda.h:95: static assertion failed: no"}}},
		{"clang", "/proc/self/cwd/batch.cu:6:26: error: use of undeclared identifier 'foo'\n/root/usr/include/atomic_cuda.h:95:7: error: static assertion failed: no\n" +
			"/proc/self/cwd/batch.cu:3:60: note: in instantiation of template class 'x' requested here\n2 errors generated when compiling for sm_70.\n",
			[]Diagnostic{{6, 26, "", "error", "use of undeclared identifier 'foo'"}, {3, 0, "", "error", "atomic_cuda.h:95: static assertion failed: no"}}},
	} {
		assert.Equal(t, c.want, diagnoseCUDA(c.stderr), c.name)
	}
}

func TestInstallFront(t *testing.T) {
	d := newDebian(t, "12.4.131", func(files map[string]string) {
		files["usr/lib/nvidia-cuda-toolkit/bin/nvcc"] = fakeNvcc
		files["usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile"] = "a link to /etc"
		files["usr/include/cuda.h"] = "header"
		files["usr/lib/x86_64-linux-gnu/libcublas.so.12"] = "not wanted"
		files["usr/lib/x86_64-linux-gnu/libnvvm.so.4"] = "library"
	})
	done, err := d.install(context.Background(), "nvcc-12.4")
	require.NoError(t, err)
	require.True(t, done)
	tree := filepath.Join(d.managed, "nvcc-12.4")
	for name, there := range map[string]bool{"lib/nvidia-cuda-toolkit/bin/nvcc": true, "include/cuda.h": true, "lib/x86_64-linux-gnu/libnvvm.so.4": true,
		"lib/x86_64-linux-gnu/libcublas.so.12": false, "bin/ptxas": false, "lib/nvidia-cuda-toolkit/bin/nvcc.profile": false,
		"share/doc/nvidia-cuda-toolkit/copyright": true} {
		_, err := os.Stat(filepath.Join(tree, "root/usr", name))
		assert.Equal(t, there, err == nil, name)
	}
	assert.NoFileExists(t, filepath.Join(d.managed, "evil"))
	o := Options{Managed: d.managed, Cache: "off", Env: func(string) string { return "" }}
	all, errs := DiscoverFronts(t.Context(), o)
	require.Empty(t, errs)
	require.Len(t, all, 1)
	require.Equal(t, "managed", all[0].Source)
	none, errs := Discover(t.Context(), o)
	require.Empty(t, errs, "there is no ptxas in it, and nobody misses one")
	require.Empty(t, none)

	done, err = d.install(context.Background(), "nvcc-12.4")
	require.NoError(t, err)
	require.False(t, done, "it is there")

	require.NoError(t, os.WriteFile(filepath.Join(tree, "root/usr/include/cuda.h"), []byte("other"), 0o600))
	forgetVerified(tree)
	_, errs = DiscoverFronts(t.Context(), o)
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], ErrChanged)
	require.ErrorContains(t, errs[0], "optcheck toolchain install nvcc-12.4 puts it right")

	did, err := Remove(d.managed, []string{"nvcc-12.4"})
	require.NoError(t, err)
	require.Len(t, did, 1)
	require.NoDirExists(t, tree)
}

// TestInstallExperimental: of what is not in a release yet, apt takes the experimental version, and what that suite
// lacks from unstable.
func TestInstallExperimental(t *testing.T) {
	d := newDebian(t, "12.5.40", func(files map[string]string) {
		files["usr/lib/nvidia-cuda-toolkit/bin/nvcc"] = strings.NewReplacer("12.4", "12.5", "V12.4.131", "V12.5.40").Replace(fakeNvcc)
	})
	for _, name := range []string{"cuda-12.5", "nvcc-12.5"} {
		done, err := d.install(t.Context(), name)
		require.NoError(t, err)
		require.True(t, done)
		calls, err := os.ReadFile(d.calls)
		require.NoError(t, err)
		for line := range strings.Lines(string(calls)) {
			if strings.Contains(line, " update") || strings.Contains(line, " download") || strings.Contains(line, "show") {
				assert.Contains(t, line, "APT::Default-Release=experimental", name)
			}
		}
	}
	require.ElementsMatch(t, []string{"cuda-12.5", "nvcc-12.5"}, d.visible(t))
}

// TestFrontsReal compiles with the front ends of this machine: their PTX is the same
// wherever and whenever it is made, and says of which line it is.
func TestFrontsReal(t *testing.T) {
	all, errs := DiscoverFronts(t.Context(), Options{})
	if len(all) == 0 {
		required.Missing(t, "no front end; optcheck toolchain install nvcc-12.4 installs one %v", errs)
	}
	const text = "#include <cuda/atomic>\nstatic __device__ int own;\nnamespace { __device__ int y; }\n__global__ void k(int *p, int *o)\n{\n\tcuda::atomic_ref<int, cuda::thread_scope_device> r(*p);\n" +
		"\t*o = r.load(cuda::std::memory_order_acquire) + own;\n\tif (*o) y = own = *o;\n}\n" +
		"int main() { k<<<1, 32>>>(nullptr, nullptr); }\n"
	foreign := strconv.Quote(filepath.Join(t.TempDir(), "foreign.h")) + "\n"
	require.NoError(t, os.WriteFile(strings.Trim(foreign, "\"\n"), []byte("of somebody else's;\n"), 0o600))
	for i, f := range all {
		ptx := func(text string) (string, error) {
			res, err := f.CompileCUDA(t.Context(), CUDAJob{Folder: t.TempDir(), Confined: true, Job: Job{Target: "sm_70", Units: []Unit{{"p.cu", text}}}})
			require.NoError(t, err)
			if err := res.Failed[0]; err != nil {
				return "", err
			}
			return string(res.Batches[0].Text), nil
		}
		a, err := ptx(text)
		require.NoError(t, err, f.ID)
		require.Contains(t, a, ".version "+f.MaxPTX, f.ID)
		require.Contains(t, a, "ld.acquire.gpu.b32", f.ID)
		require.Regexp(t, `\.file\s+1 "p\.cu"`, a, f.ID)
		if i > 0 && i < len(all)-1 {
			continue // an nvcc and a clang have to do
		}
		b, err := ptx(text)
		require.NoError(t, err, f.ID)
		require.Equal(t, a, b, f.ID)
		for bad, words := range map[string]string{
			"\nint f(\n":                                                   "p.cu:",
			"\n#include \"nofile.h\"\n":                                    "p.cu:2",
			"\n\n#include \"/etc/passwd\"\n":                               "p.cu:3: ",
			"__global__ void k() { unheard; }\n":                           "p.cu:1",
			"const char x[] = {\n#embed \"/etc/passwd\"\n};\n":             "p.cu:2",
			"const char x[] = {\n\n#embed \"no file\"\n};\n":               "p.cu:3",
			"#define HASH #\nHASH include " + foreign:                      "p.cu",
			"#define NO\nNO %: include " + foreign:                         "p.cu",
			"#define NO\nNO # inc\\ /**/\nlude " + foreign:                 "p.cu",
			"#define NO\nNO /\\ /**/\n* x *\\ /**/\n/ #include " + foreign: "p.cu",
		} {
			_, err := ptx(bad)
			require.ErrorIs(t, err, ErrCompile, "%s %s", f.ID, bad)
			require.ErrorContains(t, err, words, f.ID)
			require.NotContains(t, err.Error(), "foreign.h", "%s %s", f.ID, bad)
		}
	}
}
