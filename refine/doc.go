// Package refine asks by execution whether machine code refines the program that it was made of: on the same inputs, does it
// do to memory only what the program may do?
//
// The program alone runs concurrently (emu.Grid); its run is recorded. Each warp of the machine code then runs alone, and
// everything that it reads comes from the record: there is no schedule on the machine's side, no race makes two right runs differ,
// and a difference names a thread and an instruction. Weak loads are not compared: a wrong one shows in what is stored. Weak
// stores are compared by epoch, between two synchronisations; strong accesses, fences and barriers one by one, in order.
//
// What the program leaves open is found by running it twice with the same schedule and other undefined content: what
// differs then is not compared.
package refine
