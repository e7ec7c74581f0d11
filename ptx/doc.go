// Package ptx reads whole PTX modules, of any version, as programs: functions,
// instructions with their operands and places in the text, registers by their
// scopes, variables. What an instruction is to memory and to other threads is
// Inst.Effect.
//
// It is no assembler: types and operands are not checked, that is ptxas's work.
// But it is complete in one respect: an instruction that it does not know is an
// error with its place, for that could be one that touches memory.
package ptx
