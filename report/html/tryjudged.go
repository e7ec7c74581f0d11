package html

import (
	"fmt"

	"optcheck/internal/plain"
)

// Judged is what a model says of a test: its final states, each with an execution.
type Judged struct {
	Model, About string
	// Asked is the condition of the test, Answer what the model says of it, and Why the reason.
	Asked, Answer, Why string
	// Forbidden is an execution that ends as asked and that the model forbids, nil if there is none.
	Forbidden *Picture
	States    []JudgedState
	More      int // states that are not shown
	Notes     []string
}

// JudgedState is a final state that the model allows.
type JudgedState struct {
	Values string
	Asked  bool   // it is one that the condition asks for
	Count  uint64 // of executions that end so
	// Picture is one of them, nil if none was drawn; Note says why.
	Picture *Picture
	Note    string
}

// judgedView is a Judged with its pictures.
type judgedView struct {
	*Judged
	Drawn *pictureView
	Views []stateView
}

type stateView struct {
	JudgedState
	Drawn      *pictureView
	Executions string
}

func newJudgedView(j *Judged) *judgedView {
	if j == nil {
		return nil
	}
	v := &judgedView{Judged: j}
	draw := func(x *Picture, as string) *pictureView {
		if x == nil {
			return nil
		}
		p := newPictureView(*x, as)
		return &p
	}
	v.Drawn = draw(j.Forbidden, "forbidden-")
	for i, s := range j.States {
		v.Views = append(v.Views, stateView{s, draw(s.Picture, fmt.Sprintf("state%d-", i+1)), plain.Count(int(min(s.Count, 1<<53)), "execution")})
	}
	return v
}
