package main

import (
	"fmt"
	"io"
	"regexp"
	"sort"
	"strings"
	"time"

	campaigns "optcheck/audit/campaign"
	"optcheck/internal/plain"
)

// stageNames are the words for the tasks of a stage.
var stageNames = map[campaigns.Stage]string{campaigns.Shards: "shards", campaigns.Device: "runs on the device", campaigns.Merge: "merging"}

// describe says in a line where a campaign is.
func describe(o *campaigns.Overview) string {
	var parts []string
	for _, s := range campaigns.Stages {
		n := o.Stages[s]
		switch {
		case n.All == 0:
			continue
		case s == campaigns.Merge && n.Done == 1:
			parts = append(parts, "merged")
			continue
		case s == campaigns.Merge && n.Running == 0:
			continue
		}
		text := fmt.Sprintf("%s: %d of %d done", stageNames[s], n.Done, n.All)
		for _, x := range []struct {
			n    int
			word string
		}{{n.Running, "running"}, {n.Waiting, "waiting"}, {n.Lost, "failed"}} {
			if x.n > 0 {
				text += fmt.Sprintf(", %d %s", x.n, x.word)
			}
		}
		parts = append(parts, text)
	}
	text := fmt.Sprintf("%s; %d of %s", strings.Join(parts, "; "), o.Cells, plain.Count(o.Total, "cell"))
	if o.RunsTotal > 0 {
		text += fmt.Sprintf(", %d of %s", o.Runs, plain.Count(o.RunsTotal, "run"))
	}
	if o.Restarted > 0 {
		text += fmt.Sprintf("; %s submitted again", plain.Count(o.Restarted, "task"))
	}
	return text
}

// maxLostShown bounds the failed tasks whose logs are shown.
const maxLostShown = 5

// writeLost shows the ends of the logs of tasks that were given up.
func writeLost(w io.Writer, c *campaigns.Campaign, o *campaigns.Overview) {
	var tasks []campaigns.Task
	for t := range o.Lost {
		tasks = append(tasks, t)
	}
	sort.Slice(tasks, func(i, j int) bool {
		return tasks[i].Stage > tasks[j].Stage || tasks[i].Stage == tasks[j].Stage && tasks[i].Index < tasks[j].Index
	})
	for i, t := range tasks {
		if i == maxLostShown {
			fmt.Fprintf(w, "  and %d more\n", len(tasks)-i)
			return
		}
		fmt.Fprintf(w, "  %v: %s\n", t, plain.Line(o.Lost[t]))
		file, text := c.Log(t, 1000)
		if file == "" {
			continue
		}
		fmt.Fprintf(w, "    %s:\n", plain.Line(file))
		for _, l := range strings.Split(text, "\n") {
			fmt.Fprintf(w, "    | %s\n", plain.Text(l))
		}
	}
}

// status is a campaign's state for programs.
type status struct {
	Name      string                               `json:"name"`
	Engine    string                               `json:"engine"`
	Store     string                               `json:"store"`
	Complete  bool                                 `json:"complete"`
	Cancelled bool                                 `json:"cancelled,omitempty"`
	Stages    map[campaigns.Stage]*campaigns.Count `json:"stages"`
	Cells     int                                  `json:"cells_done"`
	Total     int                                  `json:"cells"`
	Runs      int                                  `json:"runs_done,omitempty"`
	Restarted int                                  `json:"submitted_again,omitempty"`
	Failed    map[string]string                    `json:"failed,omitempty"`
}

func statusOf(c *campaigns.Campaign, o *campaigns.Overview) status {
	s := status{Name: c.Plan.Spec.Name, Engine: c.Plan.Spec.Engine, Store: c.Plan.Store, Complete: o.Complete(), Cancelled: o.Cancelled,
		Stages: o.Stages, Cells: o.Cells, Total: o.Total, Runs: o.Runs, Restarted: o.Restarted, Failed: map[string]string{}}
	for t, why := range o.Lost {
		s.Failed[t.String()] = why
	}
	return s
}

// followBar shows where a campaign is: a line that is redrawn on a terminal, a
// plain one elsewhere when something has changed, but not too often.
type followBar struct {
	*progress
	text string
}

func newFollowBar(w io.Writer, quiet bool) *followBar {
	return &followBar{progress: newProgress(w, quiet)}
}

func (b *followBar) show(o *campaigns.Overview) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := describe(o)
	if b.quiet || text == b.text {
		return
	}
	if b.tty {
		const width = 30
		full := 0
		if o.Total > 0 {
			full = min(width, width*o.Cells/o.Total)
		}
		fmt.Fprintf(b.w, "\r[%-*s] %s \x1b[K", width, bars[:full], text)
	} else {
		if now := time.Now(); b.drawn && now.Sub(b.last) < 10*time.Second && !o.Complete() {
			return
		}
		fmt.Fprintf(b.w, "optcheck: %s\n", text)
	}
	b.text, b.last, b.drawn = text, time.Now(), true
}

// clear takes the line off a terminal.
func (b *followBar) clear() { b.done() }

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// shellQuote writes a word so that a shell reads it as one.
func shellQuote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
