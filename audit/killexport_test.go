package audit

import (
	"testing"

	"optcheck/litmus"
)

// KillSets are sets of tests for TestKillScore that packages above this one make.
var KillSets = map[string]func(*testing.T) []*litmus.Test{}
