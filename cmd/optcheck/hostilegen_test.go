package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
)

// maxHostile is the size of the largest generated input, in bytes.
const maxHostile = 1 << 20

// reader is something that reads a file: real ones to begin with, shapes that were
// thought of for it, and the commands that take one (@ is the file, @new a name of
// none, @run an event stream that is right).
type reader struct {
	name     string
	samples  [][]byte
	shapes   []func(n int) string // of about n bytes
	commands []string
}

// readers are all that read files.
func readers(t *testing.T) []reader {
	read := func(patterns ...string) (out [][]byte) {
		for _, p := range patterns {
			names, err := filepath.Glob(filepath.FromSlash(p))
			require.NoError(t, err)
			require.NotEmpty(t, names, p)
			for _, name := range names {
				data, err := os.ReadFile(name)
				require.NoError(t, err)
				if strings.HasSuffix(name, ".store.gz") {
					z, err := gzip.NewReader(bytes.NewReader(data))
					require.NoError(t, err)
					data, err = io.ReadAll(z)
					require.NoError(t, err)
				}
				out = append(out, data[:min(len(data), maxHostile/2)])
			}
		}
		return out
	}
	var tests [][]byte
	for _, c := range append(corpus.Tests(), corpus.OpenCL()...) {
		tests = append(tests, []byte(c.String()))
	}
	streams := read("../../audit/store/testdata/kept.jsonl", "../../audit/testdata/golden/12.4/*-O3.jsonl")
	var packed [][]byte
	for _, s := range streams {
		packed = append(packed, zip(s))
	}
	return []reader{
		{"nvidia", read("../../audit/testdata/golden/*/*.sass"), nvidiaShapes(), []string{"check @", "isa @", "isa --json @",
			"check @ --against mp"}},
		{"ptx", read("../../sass/lower/testdata/*.ptx", "../../realcode/testdata/values.ptx"), ptxShapes(), []string{"emulate @",
			"emulate @ --trace 10 --json", "verify @ --no-mend --inputs 1 --schedules 1 --steps 10000", "check @",
			"verify @ --no-mend --inputs 1 --schedules 1 --steps 10000 --sarif @new"}},
		{"amd", read("../../amdisa/testdata/golden/*"), amdShapes(), []string{"check @", "isa @", "check @ --against cl-mp"}},
		{"litmus", tests, litmusShapes(), []string{"tests @", "tests @ --json", "model @ --timeout 1s", "emit @", "convert --to lisa @"}},
		{"cat", read("../../model/cat/lib/*.cat"), catShapes(), []string{"model --cat @ mp --timeout 1s", "log check @run --cat @ --timeout 1s"}},
		{"log", [][]byte{[]byte(someLog)}, logShapes(), []string{"log check @ --model sc --timeout 1s"}},
		{"stream", streams, streamShapes(), []string{"report @", "diff @ @run", "report @ --format junit", "store import @new @",
			"report @ --html @new"}},
		{"packed stream", packed, packedShapes(), []string{"report @", "merge @new @"}},
		{"store", read("../../audit/store/testdata/kept.store.gz"), nil, []string{"store check @", "store info @", "report @",
			"merge @new @", "store export @"}},
		{"campaign", read("../../audit/campaign/example.yaml"), yamlShapes("tests: "), []string{"campaign run @"}},
		{"known", read("../../known/default.yaml"), yamlShapes("known: "), []string{"report @run --known @"}},
		{"settings", [][]byte{[]byte("levels: [O0]\ntargets: [sm_80]\n")}, yamlShapes("levels: "), []string{"config --config @"}},
		{"tables", [][]byte{[]byte(someTable)}, jsonShapes(), []string{"report @run --html @new --deps @",
			"report @run --html @new --mapping @"}},
		{"cubin", [][]byte{[]byte("\x7fELF\x02\x01\x01\x33\x07\x00\x00\x00\x00\x00\x00\x00\x02\x00\xbe\x00")}, nil, []string{"isa @", "check @"}},
	}
}

const (
	someLog   = "Test mp Allowed\nHistogram (3 states)\n10:>1:r1=0; 1:r2=0;\n20:>1:r1=1; 1:r2=1;\n1*>1:r1=1; 1:r2=0;\nOk\n"
	someTable = `{"op":"ld.weak","toolchain":"ptxas 12.4.131","target":"sm_80","level":"O3","seq":["LDG.E"]}` + "\n"
)

func zip(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

// fill repeats lines until there are n bytes.
func fill(n int, head string, line func(i int) string, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len()+len(tail) < n; i++ {
		b.WriteString(line(i))
	}
	return b.String() + tail
}

func nvidiaShapes() (out []func(int) string) {
	for _, f := range []func(i, lines int) string{
		func(i, n int) string { return fmt.Sprintf("CALL.REL.NOINC 0x%x", 16*(13*i%n)) },
		func(i, n int) string { return fmt.Sprintf("@P%d BRA 0x%x", i%7, 16*n) },
		func(i, n int) string { return fmt.Sprintf("@P%d BRA 0x%x", i%7, 16*max(0, n/2-i)) },
		func(i, n int) string { return fmt.Sprintf("@P0 BRA 0x%x", 16*(7919*i%n)) },
		func(i, n int) string { return fmt.Sprintf("@!P%d EXIT", i%7) },
		func(i, n int) string { return "IADD3 R2, R2, R2, RZ" },
		func(i, n int) string { return fmt.Sprintf("SEL R%d, R%d, R%d, P%d", i%250, i*7%250, i*3%250, i%6) },
		func(i, n int) string { return fmt.Sprintf("STG.E [R%d.64], R%d", i%120*2, i%250) },
		func(i, n int) string { return fmt.Sprintf("LDG.E R%d, [R%d.64]", i%250, i%120*2) },
		func(i, n int) string {
			return fmt.Sprintf("LOP3.LUT R%d, R%d, 0x%x, RZ, 0x3c, !PT", i%250, i%250, i*2654435761%(1<<32))
		},
		func(i, n int) string { return "MEMBAR.SC.GPU" },
		func(i, n int) string {
			return []string{fmt.Sprintf("SSY 0x%x", 16*n), "SYNC", fmt.Sprintf("PBK 0x%x", 16*(i+2)), "@P0 BRK"}[i%4]
		},
		func(i, n int) string {
			return []string{fmt.Sprintf("BSSY B%d, 0x%x", i%16, 16*n), fmt.Sprintf("BSYNC B%d", i%16), "@P1 BRA 0x20"}[i%3]
		},
		func(i, n int) string { return "BRX R4 -0x10" },
		func(i, n int) string { return "ATOMG.E.ADD.STRONG.GPU PT, R2, [R2.64], R9" },
		func(i, n int) string {
			return []string{"@P0 BRA 0x0", fmt.Sprintf("ISETP.NE.AND P%d, PT, R%d, R%d, PT", i%6, i%250, i%249)}[i%2]
		},
	} {
		out = append(out, func(n int) string {
			lines := max(n/60, 1)
			return fill(n, "\tcode for sm_80\n\t\tFunction : k\n", func(i int) string {
				return fmt.Sprintf("        /*%04x*/                   %s ;\n", 16*i, f(i, lines))
			}, fmt.Sprintf("        /*%04x*/                   EXIT ;\n", 16*(n/40+1)))
		})
	}
	return append(out,
		func(n int) string {
			return fill(n, "\tcode for sm_80\n", func(i int) string { return fmt.Sprintf("\t\tFunction : k%d\n        /*0000*/  EXIT ;\n", i) }, "")
		},
		func(n int) string {
			return fill(n, "\tcode for sm_80\n\t\tFunction : k\n        /*0000*/ FOO", func(int) string { return ".X" }, " ;\n")
		},
		func(n int) string {
			return fill(n, "\t.section\t.text.k,\"ax\",@progbits\n", func(i int) string { return fmt.Sprintf(".L_x_%d:\n", i) }, "")
		})
}

func amdShapes() (out []func(int) string) {
	for _, line := range []func(i int) string{
		func(i int) string { return fmt.Sprintf("\ts_cbranch_scc0 BB0_%d\nBB0_%d:\n", i*13%1000, i) },
		func(i int) string { return fmt.Sprintf("\tv_add_u32_e32 v%d, v%d, v%d\n", i%256, i*7%256, i*3%256) },
		func(i int) string {
			return fmt.Sprintf("\tglobal_store_dword v[%d:%d], v%d, off\n", i%200, i%200+1, i%256)
		},
		func(i int) string {
			return fmt.Sprintf("\tglobal_load_dword v%d, v[%d:%d], off\n\ts_waitcnt vmcnt(%d)\n", i%256, i%200, i%200+1, i%60)
		},
		func(i int) string { return "\ts_and_saveexec_b64 s[0:1], vcc\n\ts_or_b64 exec, exec, s[0:1]\n" },
		func(i int) string { return fmt.Sprintf("BB0_%d:\n\ts_branch BB0_%d\n", i, i*7%97) },
	} {
		out = append(out, func(n int) string {
			return fill(n, "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"\n\t.text\n\t.globl k\n\t.type k,@function\nk:\n", line, "\ts_endpgm\n")
		})
	}
	return out
}

func litmusShapes() []func(int) string {
	begin, end := "GPU_PTX t\n{\nx=0;\n0:.reg .b64 rd0 = x; 0:.reg .s32 r0;\n}\n T0 ;\n", "ScopeTree(grid(cta(warp T0)))\nx: global\n"
	return []func(int) string{
		func(n int) string {
			return fill(n, begin, func(int) string { return " ld.s32 r0,[rd0] ;\n" }, end+"exists (0:r0=0)\n")
		},
		func(n int) string {
			return begin + " ld.s32 r0,[rd0] ;\n" + end + "exists " + strings.Repeat("(", n) + "0:r0=0" + strings.Repeat(")", n)
		},
		func(n int) string {
			return begin + " ld.s32 r0,[rd0] ;\n" + end + "exists (" + strings.Repeat(`0:r0=0 /\ `, n/10) + "0:r0=0)"
		},
		func(n int) string {
			return begin + " ld.s32 r0,[rd0] ;\n" + end + "exists (" + strings.Repeat("~", n) + "0:r0=0)"
		},
		func(n int) string {
			return fill(n, "GPU_PTX t\n{\n", func(i int) string { return fmt.Sprintf("x%d=%d; ", i, i) }, "}\n")
		},
		func(n int) string {
			return fill(n, "GPU_PTX t\n{\n}\n", func(i int) string { return fmt.Sprintf(" T%d |", i) }, ";\n")
		},
		func(n int) string { return begin + " ld.s32 r0,[rd0] ;\n" + strings.Repeat("(*", n/2) },
		func(n int) string {
			return begin + " ld.s32 r0,[rd0] ;\nScopeTree" + strings.Repeat("(grid(cta(warp ", n/15)
		},
		func(n int) string {
			return fill(n, "GPU_OPENCL t\n{\nx=0;\n}\n",
				func(int) string { return "__kernel void P0(__global int* x) { if (x) { x[0] = 1; } }\n" }, "exists (x=1)")
		},
		func(n int) string {
			return "LISA t\n{\n}\n P0 ;\n" + strings.Repeat(" w[] x 1 ;\n", n/11) + "exists (x=1)\n"
		},
		func(n int) string {
			return fill(n, begin, func(i int) string { return fmt.Sprintf(" L%d: bra L%d ;\n", i, i/2) }, end+"exists (0:r0=0)\n")
		},
	}
}

func catShapes() []func(int) string {
	return []func(int) string{
		func(n int) string {
			return fill(n, "\"m\"\nlet a0 = po\n", func(i int) string {
				return fmt.Sprintf("let a%d = a%d;a%d|a%d\n", i+1, i,
					i, i)
			}, "acyclic a0\n")
		},
		func(n int) string {
			return "\"m\"\nacyclic " + strings.Repeat("(", n/2) + "po" + strings.Repeat(")", n/2)
		},
		func(n int) string { return "\"m\"\nacyclic po" + strings.Repeat("|po;rf", n/6) },
		func(n int) string { return "\"m\"\nacyclic po" + strings.Repeat("^-1", n/3) },
		func(n int) string {
			return fill(n, "\"m\"\nlet rec f0 x = x\n", func(i int) string {
				return fmt.Sprintf("and f%d x = f%d(x);f%d(x)\n", i+1, i,
					i)
			}, "acyclic f5(po)\n")
		},
		func(n int) string { return strings.Repeat("include \"cos.cat\"\n", n/18) },
		func(n int) string { return "\"m\"\n" + strings.Repeat("(*", n/2) },
	}
}

func logShapes() []func(int) string {
	return []func(int) string{
		func(n int) string {
			return fill(n, "Test mp Allowed\nStates 100000\n", func(i int) string { return fmt.Sprintf("1:r1=%d; 1:r2=%d;\n", i, i%7) }, "Ok\n")
		},
		func(n int) string {
			return fill(n, "Test mp Allowed\nStates 1\n", func(i int) string { return fmt.Sprintf("1:r%d=0; ", i) }, "\nOk\n")
		},
		func(n int) string {
			return fill(n, "", func(i int) string { return fmt.Sprintf("Test t%d Allowed\nStates 0\nNo\n", i) }, "")
		},
		func(n int) string { return "Test mp Allowed\nStates 9999999999999999999\n" + strings.Repeat("\n", n) },
	}
}

const oneConfig = `{"config":{"schema":3,"tool":"t","spec_version":2,"tests":%d,"cells":%d,"toolchains":[{"id":"ptxas 12.4.131"}],"targets":["sm_80"],"levels":["O3"],"layouts":["pointers"]}}` + "\n"

func streamShapes() []func(int) string {
	cell := func(name, class string, more string) string {
		return fmt.Sprintf(`{"cell":{"test":%q,"hash":"%x","toolchain":"ptxas 12.4.131","target":"sm_80","level":"O3","layout":"pointers","class":%q%s}}`+"\n", name, name, class, more)
	}
	return []func(int) string{
		func(n int) string {
			return fill(n, fmt.Sprintf(oneConfig, 1<<30, 1<<30), func(i int) string { return cell(fmt.Sprint("t", i), "preserved", "") }, "")
		},
		func(n int) string {
			return fill(n, fmt.Sprintf(oneConfig, 9, 9), func(i int) string {
				return cell(fmt.Sprint("t", i), "miscompiled",
					fmt.Sprintf(`,"findings":[{"rule":"merged","thread":%d,"access":%d,"detail":"x%d"}],"code":"c%d"`, i, -i, i, i))
			}, "")
		},
		func(n int) string { return fill(n, "", func(i int) string { return fmt.Sprintf(oneConfig, i, i) }, "") },
		func(n int) string { return fmt.Sprintf(oneConfig, 1, 1) + `{"cell":` + strings.Repeat(`{"a":`, n/5) },
		func(n int) string { return fmt.Sprintf(oneConfig, 1, 1) + strings.Repeat("\n", n) },
		func(n int) string { return fmt.Sprintf(oneConfig, 1, 1) + cell(strings.Repeat("x", n), "unknown", "") },
		func(n int) string {
			return fill(n, fmt.Sprintf(oneConfig, 1, 1),
				func(i int) string { return fmt.Sprintf(`{"problem":{"kind":"k%d","detail":"d"}}`+"\n", i) }, "")
		},
		func(n int) string {
			return fill(n, fmt.Sprintf(oneConfig, 1,
				1)+`{"histogram":{"test":"mp","device":{"name":"d"},"setting":"none","status":"done","terms":["0:r0"],"outcomes":[`,
				func(i int) string {
					return fmt.Sprintf(`{"values":[%d],"count":%d},`, i, i)
				}, `{"values":[1],"count":1}]}}`+"\n")
		},
	}
}

// packedShapes are streams that are larger than they look.
func packedShapes() (out []func(int) string) {
	for _, s := range append(streamShapes(), func(n int) string { return strings.Repeat("\n", n) },
		func(n int) string { return strings.Repeat(" ", n) }, func(n int) string { return strings.Repeat("\x00", n) }) {
		out = append(out, func(n int) string { return string(zip([]byte(s(16 * n)))) })
	}
	return out
}

func yamlShapes(key string) []func(int) string {
	return []func(int) string{
		func(n int) string { return key + strings.Repeat("[", n) },
		func(n int) string { return key + strings.Repeat("{a: ", n/4) },
		func(n int) string {
			return fill(min(n, 40_000), "a0: &a0 [x,x,x,x,x,x,x,x,x]\n",
				func(i int) string { return fmt.Sprintf("a%d: &a%d [*a%d,*a%d,*a%d,*a%d]\n", i+1, i+1, i, i, i, i) }, key+"*a9\n")
		},
		func(n int) string {
			return fill(n, key+"\n", func(i int) string { return fmt.Sprintf(" - x%d\n", i) }, "")
		},
		func(n int) string { return key + strings.Repeat("- ", n/2) },
		func(n int) string { return key + "\"" + strings.Repeat("\\x41", n/4) + "\"" },
		func(n int) string { return strings.Repeat("---\n", n/4) },
	}
}

func jsonShapes() []func(int) string {
	return []func(int) string{
		func(n int) string { return strings.Repeat("[", n) },
		func(n int) string {
			return fill(n, "", func(i int) string {
				return fmt.Sprintf(`{"op":"o%d","toolchain":"t%d","target":"sm_%d","level":"O3","seq":["LDG"]}`+"\n", i, i%50, i)
			}, "")
		},
		func(n int) string {
			return fill(n, "", func(i int) string {
				return fmt.Sprintf(`{"scheme":"s%d","toolchain":"t%d","target":"sm_%d","level":"O%d"}`+"\n", i, i, i, i)
			}, "")
		},
		func(n int) string { return strings.Repeat("{}\n", n/3) },
	}
}

// mutate makes something else of a sample.
func mutate(r *rand.Rand, sample []byte, n int) []byte {
	out := bytes.Clone(sample)
	at := func() int { return r.IntN(len(out) + 1) }
	for range 1 + r.IntN(4) {
		switch r.IntN(9) {
		case 0: // bits
			for range 1 + r.IntN(20) {
				if len(out) > 0 {
					out[r.IntN(len(out))] ^= 1 << r.IntN(8)
				}
			}
		case 1: // cut short
			out = out[:at()]
		case 2: // a part, many times
			a := at()
			b := min(len(out), a+1+r.IntN(400))
			if b > a && len(out) < n {
				out = append(out[:b:b], append(bytes.Repeat(out[a:b], (n-len(out))/(b-a)), out[b:]...)...)
			}
		case 3: // something in between
			words := []string{"\x00", "\xff\xfe", "\xef\xbb\xbf", "99999999999999999999", "-1", "0x", "((((", "}", "\n\n", "\"", "%s%n", "../../x",
				strings.Repeat("A", 70_000), "é\u202e", "\r", "NaN"}
			a := at()
			out = append(out[:a:a], append([]byte(words[r.IntN(len(words))]), out[a:]...)...)
		case 4: // a part gone
			a := at()
			out = append(out[:a:a], out[min(len(out), a+r.IntN(200)):]...)
		case 5: // lines in another order
			lines := bytes.SplitAfter(out, []byte("\n"))
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			out = bytes.Join(lines, nil)
		case 6: // the end of a line
			out = bytes.ReplaceAll(out, []byte("\n"), []byte([]string{"\r\n", "\r", " ", "\n\n"}[r.IntN(4)]))
		case 7: // numbers
			out = bytes.ReplaceAll(out, []byte{byte('0' + r.IntN(10))},
				[]byte([]string{"4294967296", "-1", "", "00000000000000000000001"}[r.IntN(4)]))
		case 8: // all of it, again and again
			if len(out) > 0 && len(out) < n {
				out = bytes.Repeat(out, n/len(out))
			}
		}
		out = out[:min(len(out), maxHostile)]
	}
	return out
}
