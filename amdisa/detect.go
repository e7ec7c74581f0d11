package amdisa

import "strings"

// Recognise reports whether a text is AMD machine code in one of the dialects of this package.
// It looks only at the text and does not try to parse it.
func Recognise(src []byte) bool {
	return detect(string(src)) != ""
}

// detect returns the dialect of a text, "" if it is none.
func detect(s string) string {
	switch {
	case strings.Contains(s, "ALU clause starting at") || strings.Contains(s, "Fetch clause starting at") ||
		strings.Contains(s, "section\t.AMDGPU.config") &&
			(strings.Contains(s, "\tCF_END") || strings.Contains(s, "\n\tALU ")):
		return DialectR600
	case strings.Contains(s, "file format elf64-amdgpu") || strings.Contains(s, "file format ELF64-amdgpu"):
		return DialectObjdump
	}
	for _, w := range []string{".amdgcn_target", ".amdgpu_hsa_kernel", ".amd_amdgpu_isa", ".amdhsa_kernel", ".amd_kernel_code_t",
		".hsa_code_object_isa"} {
		if strings.Contains(s, w) {
			return DialectLLVM
		}
	}
	var d string
	eachLine(s, func(_ int, line string) bool {
		d = detectLine(line)
		return d == ""
	})
	if d == DialectCatalyst && objdumpHead(s) {
		d = DialectObjdump
	}
	if d == DialectLLVM && strings.Contains(s, "label_") {
		d = DialectCatalyst
	}
	return d
}

// objdumpHead reports whether a text is a disassembly of llvm-objdump without its first lines:
// functions start with "0000000000000000 <name>:".
func objdumpHead(s string) bool {
	found := false
	eachLine(s, func(_ int, line string) bool {
		_, _, found = objdumpLabel(trim(line))
		return !found
	})
	return found
}

// detectLine returns the dialect that a line gives away.
func detectLine(line string) string {
	t := trim(line)
	if t == "" {
		return ""
	}
	if teraScaleLine(t) {
		return DialectTeraScale
	}
	if _, _, ok := objdumpLabel(t); ok {
		return DialectObjdump
	}
	switch {
	case strings.HasPrefix(t, "/*"):
		if j := 2 + strings.Index(t[2:], "*/"); j >= 2 {
			if op, _ := cutWord(trim(t[j+2:])); isGCN(op) {
				return DialectCLRX
			}
		}
		return ""
	case strings.HasPrefix(t, "** Disassembly for '"), strings.HasPrefix(t, "shader main"), strings.HasPrefix(t, "asic("):
		return DialectCatalyst
	case strings.HasPrefix(t, ".gpu "), strings.HasPrefix(t, ".amdcl2"):
		return DialectCLRX
	}
	op, rest := cutWord(t)
	if !isGCN(op) {
		return ""
	}
	if strings.Contains(rest, "//") {
		return DialectCatalyst
	}
	return DialectLLVM
}

// isGCN reports whether a mnemonic is one of GCN and its successors.
func isGCN(op string) bool {
	if !mnemonic(op) {
		return false
	}
	unit, rest, _ := strings.Cut(op, "_")
	base, _ := cutEncoding(op)
	switch unit {
	case "s":
		if _, ok := scalarOps[rest]; ok {
			return true
		}
		if _, ok := nops[op]; ok {
			return true
		}
		for _, p := range []string{"load_", "buffer_load_", "waitcnt", "wait_", "endpgm", "branch", "cbranch_", "barrier", "getpc", "setpc",
			"swappc", "store_"} {
			if strings.HasPrefix(rest, p) {
				return true
			}
		}
		return false
	case "v":
		_, _, ok := vectorShape(strings.TrimPrefix(base[2:], "dual_"))
		return ok
	case "ds", "buffer", "tbuffer", "flat", "global", "scratch", "image":
		return strings.Contains(rest, "load") || strings.Contains(rest, "store") || strings.Contains(rest, "atomic") ||
			strings.Contains(rest, "read") ||
			strings.Contains(rest, "write") || strings.Contains(rest, "wb") || strings.Contains(rest, "inv")
	}
	return false
}

// eachLine calls f for each line until it returns false.
func eachLine(s string, f func(n int, line string) bool) {
	for n := 1; s != ""; n++ {
		line := s
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			line, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		if !f(n, line) {
			return
		}
	}
}

// objdumpLabel reads 0000000000000000 <name>:
func objdumpLabel(t string) (addr uint64, name string, ok bool) {
	if len(t) < 12 || t[len(t)-1] != ':' || t[len(t)-2] != '>' {
		return 0, "", false
	}
	i := strings.IndexByte(t, ' ')
	if i < 8 || i+2 >= len(t) || t[i+1] != '<' {
		return 0, "", false
	}
	addr, ok = parseHex(t[:i])
	return addr, t[i+2 : len(t)-2], ok
}

// parseHex reads hexadecimal digits.
func parseHex(s string) (uint64, bool) {
	if s == "" || len(s) > 16 {
		return 0, false
	}
	var v uint64
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isDigit(c):
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint64(c)
	}
	return v, true
}
