package keeper

import "time"

// What goes over the socket of one program, as JSON: an order, a receipt, signals, an end.
type (
	// order asks the keeper to start a program with the files that came with the socket.
	order struct {
		Path  string        `json:"path"`
		Args  []string      `json:"args"`
		Env   []string      `json:"env"`
		Dir   string        `json:"dir"`
		Grace time.Duration `json:"grace,omitempty"`
	}
	// receipt says that the program was started, or why not.
	receipt struct {
		Pid   int `json:"pid"`
		Errno int `json:"errno,omitempty"`
	}
	// end says how the program ended.
	end struct {
		Status uint32        `json:"status"`
		User   time.Duration `json:"user"`
		System time.Duration `json:"system"`
		MaxRSS int64         `json:"max_rss"`
	}
)
