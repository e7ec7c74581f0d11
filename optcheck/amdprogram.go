package optcheck

import (
	"context"
	"fmt"

	"optcheck/litmus"
	"optcheck/model/amdhw"
	"optcheck/model/explore"
)

// AMDMachine is a program of package amdhw.
type AMDMachine struct{ amdhw.Program }

// Name implements Machine.
func (m *AMDMachine) Name() string { return m.System.Name }

// Explore implements Machine.
func (m *AMDMachine) Explore(ctx context.Context, fresh bool, end func(f *explore.Final, schedule func() []explore.Step) error) error {
	m.Fresh = fresh
	return amdhw.Explore(ctx, &m.Program, end)
}

// values implements operations.
func (l *LiftedAMD) values() map[int]*expr { return l.regs }

// machine implements operations.
func (l *LiftedAMD) machine(t *litmus.Test, threads []LiftedThread, init []uint32) (Machine, error) {
	m := &AMDMachine{amdhw.Program{System: l.system, Init: init}}
	for i := range threads {
		code, ok := threads[i].Lifted.(*LiftedAMD)
		if !ok {
			return nil, fmt.Errorf("thread %d is not of AMD's machine code", i)
		}
		th := amdhw.Thread{Group: groupOf(t, i), Reads: code.reads}
		params := paramsOf(threads[i].Values)
		for k := range code.ops {
			o := &code.ops[k]
			op := o.Op
			if op.Kind == amdhw.Load || op.Kind == amdhw.Store || op.Kind == amdhw.RMW {
				if op.Loc >= len(init) {
					return nil, fmt.Errorf("location %d of %d", op.Loc, len(init))
				}
				op.Text = accessText(op.Text, t, op.Loc)
			}
			op.Data, op.Guard, op.Apply = o.with(params)
			th.Ops = append(th.Ops, op)
		}
		m.Threads = append(m.Threads, th)
	}
	return m, nil
}
