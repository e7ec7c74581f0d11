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

// parentOf reads the parent of a process that has not ended.
func parentOf(pid int) (int, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") //input:allow the kernel's own files
	if err != nil {
		return 0, false
	}
	// "1 (name, with anything in it) S 0 …"
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 || fields[0][0] == 'X' {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

// kill kills processes, who started others first.
func kill(pids []int) {
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}
