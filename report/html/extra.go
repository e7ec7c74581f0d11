package html

import "html/template"

// Files of the pages beside the overview.
const (
	RunsFile         = "runs.html"
	DependenciesFile = "dependencies.html"
	MappingFile      = "mapping.html"
)

// RunFile returns the file of a run's page.
func RunFile(x *Run) string { return "run-" + x.ID + ".html" }

// maxRunPages bounds the pages of runs in a folder: those listed first have one.
const maxRunPages = 2000

// RunPages returns the pages of all runs of a set: none if it has no histograms.
func RunPages(rs *Runs) []ExtraPage {
	if len(rs.List) == 0 {
		return nil
	}
	has := map[*Run]bool{}
	for _, x := range rs.List[:min(len(rs.List), maxRunPages)] {
		has[x] = true
	}
	out := []ExtraPage{{File: RunsFile, Title: "Runs on devices", Make: func() (template.HTML, error) {
		return RunsBody(rs, RunsOptions{Limit: maxRunPages, Link: func(x *Run) string {
			if has[x] {
				return RunFile(x)
			}
			return ""
		}})
	}}}
	for _, x := range rs.List[:min(len(rs.List), maxRunPages)] {
		out = append(out, ExtraPage{File: RunFile(x), Title: rs.First(x).Test, Under: RunsFile, Make: func() (template.HTML,
			error) {
			return RunBody(rs, x)
		}})
	}
	return out
}
