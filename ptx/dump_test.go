package ptx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dumpHead is the head of a part as cuobjdump writes it; elf is a part of machine code.
const (
	dumpHead = "\nFatbin %s code:\n================\narch = sm_80\ncode version = [7,4]\nhost = linux\ncompile_size = 64bit\ncompressed\nptxasOptions = \n"
	elf      = "\n\tcode for sm_80\n\t\tFunction : k\n\t.headerflags\t@\"EF_CUDA_SM80\"\n        /*0000*/  EXIT ;  /* 0x000000000000794d */\n\t\t......\n\n"
	own      = "\n.version 7.4\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n\t.reg .b64 %r;\n\tld.param.u64 %r, [x];\n\tst.u32 [%r], 1;\n\tret;\n}\n"
)

func begin(kind string) string { return fmt.Sprintf(dumpHead, kind) }

// TestParseAll: each part of a dump that is PTX is a module, with places of the file.
func TestParseAll(t *testing.T) {
	commented := "// Fatbin ptx code:\n" + own + "/*\nFatbin ptx code:\n====\n*/"
	for name, c := range map[string]struct {
		text    string
		modules int
		err     string
	}{
		"a module":             {own, 1, ""},
		"a head in a comment":  {commented, 1, ""},
		"PTX and machine code": {begin("elf") + elf + begin("ptx") + own + begin("elf") + elf + begin("ptx") + own, 2, ""},
		"PTX first":            {begin("ptx") + own + begin("elf") + elf, 1, ""},
		"no empty line":        {begin("ptx") + strings.TrimLeft(own, "\n"), 1, ""},
		"a comment first":      {begin("ptx") + "// by NVVM\n//\n" + own, 1, ""},
		"words in front":       {"$ cuobjdump -ptx a.out\n" + begin("ptx") + own, 1, ""},
		"lines of Windows":     {strings.ReplaceAll(begin("elf")+elf+begin("ptx")+own, "\n", "\r\n"), 1, ""},
		"an archive": {"member a.o:\n" + begin("elf") + elf + begin("ptx") + own + "member lib x.a:b.o:\n\nmember c.o:\r\n" + begin("ptx") + own + "member d.o:\n",
			2, ""},
		"only machine code": {begin("elf") + elf, 0, "f.ptx:1:1: a dump of cuobjdump in which no PTX is shown"},
		"PTX not shown":     {begin("elf") + elf + begin("ptx"), 0, "no PTX is shown"},
		"one that is bad":   {begin("ptx") + own + begin("ptx") + strings.Replace(own, "st.u32", "frob.u32", 1), 1, "f.ptx:38:2: unknown instruction"},
		"cut off":           {begin("ptx") + own + begin("ptx") + own[:len(own)-12], 1, "f.ptx:"},
	} {
		all, err := ParseAll("f.ptx", []byte(c.text))
		if c.err == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.err, name)
		}
		require.Len(t, all, c.modules, name)
		lines := strings.Split(c.text, "\n")
		for i, m := range all {
			st := m.Func("k").Body[1].Inst
			require.Contains(t, lines[st.Pos.Line-1], "st.u32", name)
			require.Equal(t, 2, st.Pos.Col, name)
			require.Equal(t, st.Pos, m.Whole().Func("k").Body[1].Inst.Pos)
			require.True(t, m.Has(st.Pos.Line), name)
			require.NotContains(t, m.Plain(""), "Fatbin elf")
			m.Forget()
			require.Equal(t, st.Pos, m.Whole().Func("k").Body[1].Inst.Pos, name)
			if i > 0 {
				require.False(t, all[i-1].Has(st.Pos.Line), name)
				require.Equal(t, fmt.Sprintf("f.ptx#%d", i+1), m.Name())
			}
		}
	}
}
