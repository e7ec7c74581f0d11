package campaign

// Overview is the state of a campaign.
type Overview struct {
	Stages    map[Stage]*Count
	Cells     int // done, of Total
	Total     int
	Runs      int // on devices, done and of RunsTotal
	RunsTotal int
	// Lost holds the tasks that failed too often, with the reason.
	Lost map[Task]string
	// Restarted is the number of tasks that were submitted again.
	Restarted int
	Cancelled bool
	// Unsure is set if some tasks have disappeared from the engine and are not yet given up.
	Unsure bool
}

// Count counts tasks of a stage.
type Count struct {
	All     int `json:"all"`
	Done    int `json:"done"`
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	Lost    int `json:"lost"`
}

// Complete reports whether everything is done, including the merge.
func (o *Overview) Complete() bool { return o.Stages[Merge].Done == 1 }

// Stuck reports whether the campaign makes no further progress by itself.
func (o *Overview) Stuck() bool {
	if o.Complete() || o.Unsure {
		return o.Complete()
	}
	for _, n := range o.Stages {
		if n.Running+n.Waiting > 0 {
			return false
		}
	}
	return o.Cancelled || len(o.Lost) > 0
}

// overview counts tasks.
func (v *view) overview() *Overview {
	c := v.d.Campaign
	o := &Overview{Stages: map[Stage]*Count{}, Total: c.Plan.Cells, Lost: map[Task]string{}, Cancelled: v.st.Cancelled}
	for _, s := range Stages {
		n := &Count{All: c.Tasks(s)}
		o.Stages[s] = n
		for i := 1; i <= n.All; i++ {
			t := Task{s, i}
			var p Progress
			if v.open[t] {
				_ = readJSON(c.path(t.folder(), progressFile), &p) // only for display
			}
			o.Restarted += min(v.st.Failures[t.String()], *c.Plan.Spec.Retries)
			switch {
			case !v.open[t]:
				n.Done++
				p.Done = v.done[t].Cells
			case v.lost(t):
				n.Lost++
				o.Lost[t] = v.st.Reasons[t.String()]
			case v.engine[t].Phase == Running:
				n.Running++
			case v.engine[t].Phase == Waiting:
				n.Waiting++
			default:
				v.live(t) // may set unsure
			}
			switch s {
			case Shards:
				o.Cells += p.Done
			case Device:
				o.Runs += p.Done
				o.RunsTotal += p.Total
			}
		}
	}
	o.Unsure = v.unsure
	return o
}
