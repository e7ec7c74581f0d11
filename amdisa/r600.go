package amdisa

import "optcheck/isa"

func parseR600(file, s, arch string) (*isa.Program, error) {
	return nil, &Error{File: file, Line: 1, Kind: ErrTarget, Msg: "r600"}
}

func parseTeraScale(file, s, arch string) (*isa.Program, error) {
	return nil, &Error{File: file, Line: 1, Kind: ErrTarget, Msg: "terascale"}
}

func teraScaleLine(t string) bool { return false }
