package keeper

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// descendants are the processes below one that have not ended.
func descendants(root int) []int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc") //input:allow the kernel's own files
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	var all []int
	for next := children[root]; len(next) > 0; next = next[1:] {
		all = append(all, next[0])
		next = append(next, children[next[0]]...)
	}
	return all
}

// statOf reads what the kernel says of a process: its state, its parent and so on; nil if there is none.
func statOf(pid int) [][]byte {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") //input:allow the kernel's own files
	if err != nil {
		return nil
	}
	// "1 (name, with anything in it) S 0 …"
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
}

// parentOf reads the parent of a process that has not ended.
func parentOf(pid int) (int, bool) {
	fields := statOf(pid)
	if len(fields) < 2 || fields[0][0] == 'X' {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

// Sleeps reports whether the program and all that it started wait for something, and how much time of a processor they
// have used until now, in the kernel's ticks.
func (p *Process) Sleeps() (ticks int, all bool) {
	for _, pid := range append(descendants(p.Pid), p.Pid) {
		fields := statOf(pid)
		if len(fields) < 13 {
			return 0, false
		}
		user, _ := strconv.Atoi(string(fields[11]))
		system, _ := strconv.Atoi(string(fields[12]))
		if ticks += user + system; fields[0][0] != 'S' {
			return 0, false
		}
	}
	return ticks, true
}

// kill kills processes, who started others first.
func kill(pids []int) {
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}
