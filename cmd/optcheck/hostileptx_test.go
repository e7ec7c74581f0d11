package main

import (
	"fmt"
	"strings"
)

// ptxShapes are modules that ask for much: of registers, memory, threads, names, blocks, calls, and runs that do not end.
func ptxShapes() (out []func(int) string) {
	whole := func(head, entry, body string) string {
		return ".version 8.3\n.target sm_80\n.address_size 64\n" + head + ".visible .entry k" + entry +
			"\n{\n\t.reg .pred %p<9>;\n\t.reg .b32 %r<99>;\n\t.reg .b64 %rd<19>;\n\tld.param.u64 %rd1, [out];\n" + body +
			"\tst.global.u32 [%rd1], %r1;\n\tret;\n}\n"
	}
	const plain = "(.param .u64 out, .param .u32 n)"
	one := func(head, entry, body string) {
		out = append(out, func(int) string { return whole(head, entry, body) })
	}
	lines := func(text func(i int) string) {
		out = append(out, func(n int) string { return whole("", plain, fill(n-400, "", text, "")) })
	}
	one("", plain, "\t.reg .b32 %q<2000000>;\n\t.reg .b32 %q<2000000000>;\n")
	one("", plain, "\t.reg .b64 %q<2000000>;\n")
	one("", plain, "\t.shared .align 4 .b8 s[4294967295];\n\tmov.u32 %r2, s;\n\tst.shared.u32 [%r2+3000000000], %r1;\n")
	one("", plain, "\t.local .align 8 .b8 d[1073741824];\n\tmov.u64 %rd2, d;\n\tst.local.u32 [%rd2+1000000000], %r1;\n")
	one(".global .align 1073741824 .b8 g[1000000][1000000][1000000];\n.const .b8 c[9223372036854775807];\n", plain,
		"\tst.global.u32 [g+2000000000], %r1;\n")
	one("", "(.param .u64 out, .param .align 16 .b8 big[2147483647])", "")
	one("", "(.param .align 9223372036854775807 .b8 a[9223372036854775807], .param .u64 out)", "")
	one("", plain+"\n.reqntid 1024,1024,1024\n", "")
	one("", plain+"\n.reqnctapercluster 1000000000,1000000000,1000000000\n", "\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n")
	one("", plain, "W:\n\tld.acquire.gpu.global.u32 %r3, [%rd1+64];\n\tsetp.ne.u32 %p1, %r3, 12345;\n\t@%p1 bra W;\n")
	one("", plain, "W:\n\tatom.global.add.u32 %r3, [%rd1], 1;\n\tbar.warp.sync -1;\n\tbra W;\n")
	one("", plain, "\t.shared .align 8 .b64 m;\n\tmov.u32 %r3, m;\n\tmbarrier.init.shared.b64 [%r3], 1048575;\n"+
		"W:\n\tmbarrier.test_wait.shared.b64 %p1, [%r3], %rd3;\n\t@!%p1 bra W;\n")
	one("", plain, "\tmov.u64 %rd5, %rd1;\nW:\n\tst.global.u32 [%rd5], %r1;\n\tadd.u64 %rd5, %rd5, 1048576;\n\tbra W;\n")
	one(".func f(.param .b32 a)\n{\n\t.local .b8 d[60000];\n\t{ .param .b32 p; call.uni f, (p); }\n\tret;\n}\n", plain,
		"\t{ .param .b32 p; call.uni f, (p); }\n")
	var calls strings.Builder
	for i := 40; i >= 0; i-- {
		fmt.Fprintf(&calls, ".func f%d()\n{\n%s\tret;\n}\n", i, strings.Repeat(fmt.Sprintf("\tcall.uni f%d, ();\n", i+1), min(40-i, 3)))
	}
	one(calls.String(), plain, "\tcall.uni f0, ();\n")
	out = append(out,
		func(n int) string {
			return whole("", "(.param .u64 out"+fill(n, "", func(i int) string { return fmt.Sprintf(", .param .u64 q%d", i) }, "")+")", "")
		},
		func(n int) string { return whole("", plain, strings.Repeat("{", n/2)+strings.Repeat("}", n/2)+"\n") },
		func(n int) string { return whole("", plain, "\tmov.u32 %r1, "+strings.Repeat("9", n)+";\n") },
		func(n int) string {
			return whole("", plain, "\tmov.u32 %r1, "+strings.Repeat("(", n/2)+"1"+strings.Repeat(")", n/2)+";\n")
		},
		func(n int) string { return whole("", plain, "\tmov.u32 %r1, "+strings.Repeat("-", n)+"1;\n") },
		func(n int) string { return whole("", strings.Repeat("k", n)+plain, "") },
		func(n int) string {
			return whole(fill(n, ".global .align 4 .u32 g[999999] = {0", func(i int) string { return fmt.Sprintf(",%d", i) }, "};\n"), plain, "")
		},
		func(n int) string {
			return whole("", plain, "ts: .branchtargets L0"+strings.Repeat(", L0", n/4)+";\nL0:\n\tbrx.idx %r1, ts;\n")
		},
		func(n int) string {
			return fill(n, "", func(i int) string { return fmt.Sprintf(".file %d \"/dev/zero\"\n", i) }, whole("", plain, "\t.loc 1 1 1\n"))
		})
	lines(func(i int) string { return fmt.Sprintf("L%d:\n", i) })
	lines(func(i int) string { return fmt.Sprintf("L%d:\n\t@%%p1 bra L%d;\n", i, i/2) })
	lines(func(i int) string {
		return fmt.Sprintf("\tmul.lo.u64 %%rd%d, %%rd%d, %%rd%d;\n", i%10+2, i*7%10+2, i*3%10+2)
	})
	lines(func(i int) string {
		return fmt.Sprintf("\tatom.global.add.u32 %%r%d, [%%rd1+%d], 1;\n", i%90+2, i%64*4)
	})
	lines(func(i int) string { return fmt.Sprintf("\tld.global.u32 %%r%d, [%%rd1+%d];\n", i%90+2, i%64*4) })
	lines(func(i int) string { return fmt.Sprintf("\tbar.sync %d;\n", i%16) })
	lines(func(i int) string {
		return fmt.Sprintf("\tsetp.lt.u32 %%p1, %%r%d, %d;\n\t@%%p1 bra A%d;\n\tadd.u32 %%r1, %%r1, %%r%d;\nA%d:\n", i%90+1, i, i, i%90+1, i)
	})
	return out
}
