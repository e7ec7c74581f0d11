// Package toolname says which compilers a name stands for, in flags, addresses and saved runs alike. A compiler has
// a tool and a version, and a toolchain one or two of them: its ID is "ptxas 12.4.131", or "nvcc 12.4.131 + ptxas
// 11.8.89".
package toolname

import (
	"slices"
	"strings"
)

// releases are what the releases of tools are called: cuda-12.4 has ptxas 12.4.131.
var releases = map[string]string{"ptxas": "cuda", "clang": "llvm", "llc": "llvm"}

// Compiler reports whether a name stands for a compiler: its tool, or its version or the beginning of one that ends at
// a dot, or both with a blank or a hyphen between them. The release's name may stand in the place of the tool's.
func Compiler(name, tool, version string) bool {
	name = strings.Trim(name, " -")
	for _, t := range []string{tool, releases[tool]} {
		rest, ok := strings.CutPrefix(name, t)
		switch {
		case t == "" || !ok:
		case rest == "":
			return true
		case rest[0] == '-' || rest[0] == ' ':
			return begins(rest[1:], version)
		}
	}
	return begins(name, version)
}

// tools are the compilers of what is installed by a release's name.
var tools = map[string][]string{"cuda": {"ptxas"}, "llvm": {"clang", "llc", "clang-cuda"}, "nvcc": {"nvcc"}}

// Installed reports whether a name stands for a compiler of what is installed as a release: "cuda-12.4", of which the
// compilers have versions that go on, such as 12.4.131.
func Installed(name, release string) bool {
	if name == release {
		return true
	}
	at := strings.LastIndexByte(release, '-')
	if at < 0 {
		return false
	}
	version := release[at+1:]
	if i := strings.LastIndex(name, version+"."); i >= 0 && strings.Trim(name[i:], "0123456789.") == "" {
		name = name[:i+len(version)]
	}
	return slices.ContainsFunc(tools[release[:at]], func(tool string) bool { return Compiler(name, tool, version) })
}

func begins(name, version string) bool {
	return name != "" && (name == version || strings.HasPrefix(version, name+"."))
}

// ID reports whether a name stands for the toolchain of an ID: for one of its compilers, or, joined by a +, for all.
func ID(name, id string) bool {
	if name == id {
		return true
	}
	words, list := strings.Split(name, "+"), strings.Split(id, " + ")
	stands := func(word, of string) bool {
		tool, rest, _ := strings.Cut(of, " ")
		version, _, _ := strings.Cut(rest, " ") // a build may follow
		return Compiler(word, tool, version)
	}
	if len(words) == 1 {
		for _, of := range list {
			if stands(name, of) {
				return true
			}
		}
		return false
	}
	if len(words) != len(list) {
		return false
	}
	for i, of := range list {
		if !stands(words[i], of) {
			return false
		}
	}
	return true
}
