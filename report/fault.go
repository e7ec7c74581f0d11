package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// Fault is something that a program itself does wrong, whatever a compiler makes of it.
type Fault struct {
	// Rule is what is broken, Title what the rule says.
	Rule, Title string
	Kernel      string
	Message     string
	// Minor faults rest on values that the program may exclude.
	Minor bool
	// Places are the operations of the fault: the first one is where it is shown.
	Places []FaultPlace
	// Notes are what else is known of it, a sentence each; Picture is a drawing (SVG) of what the threads did,
	// Record the same as text. Pages show them.
	Notes           []string
	Picture, Record string
}

// FaultKernel is a kernel that was looked at, and what is wrong with it.
type FaultKernel struct {
	Name, File, Launch, Verdict string
	Notes                       []string
	Faults                      []Fault
}

// FaultPlace is an operation of a fault.
type FaultPlace struct {
	File      string
	Line, Col int
	// Text is the operation, Says who performs it.
	Text, Says string
	// Around are lines of the file near it.
	Around []SourceLine
}

// SourceLine is a line of a file, numbered from 1; Here is the line itself that is meant.
type SourceLine struct {
	Number int
	Text   string
	Here   bool
}

// fingerprint identifies a fault from run to run: lines are not in it.
func (f *Fault) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", f.Kernel, f.Rule)
	for _, p := range f.Places {
		fmt.Fprintf(h, " %q", p.Text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// WriteFaultsSARIF writes the faults of programs as SARIF 2.1.0: an error each, a note if it is minor. Operations beside the first one are
// related locations. why, if not "", is why not everything is known.
func WriteFaultsSARIF(w io.Writer, version string, faults []Fault, why []string) error {
	run := sarif.NewRun().WithColumnKind("unicodeCodePoints")
	driver := sarif.NewToolComponent().WithName("optcheck").WithVersion(version).WithShortDescription(text("looks for data races, wrong barriers and endless waits of programs"))
	run.WithTool(sarif.NewTool().WithDriver(driver))
	invoked := sarif.NewInvocation().WithExecutionSuccessful(true)
	for _, s := range why {
		invoked.ToolExecutionNotifications = append(invoked.ToolExecutionNotifications, sarif.NewNotification().WithLevel(sarif.LevelWarning).WithMessage(message(s)))
	}
	run.AddInvocation(invoked)
	for i := range faults {
		if i == maxResults {
			break
		}
		f := &faults[i]
		rule := slices.IndexFunc(driver.Rules, func(r *sarif.ReportingDescriptor) bool { return *r.ID == f.Rule })
		if rule < 0 {
			rule = len(driver.Rules)
			driver.Rules = append(driver.Rules, sarif.NewReportingDescriptor().WithID(f.Rule).WithName(camel(f.Rule)).WithShortDescription(text(f.Title)).
				WithHelp(text(f.Title)))
		}
		level := sarif.LevelError
		if f.Minor {
			level = sarif.LevelNote
		}
		res := sarif.NewRuleResult(f.Rule).WithRuleIndex(rule).WithLevel(level).WithMessage(message(f.Kernel + ": " + f.Message))
		fp := f.fingerprint()
		res.PartialFingerprints = map[string]string{sarifFingerprint: fp, githubFingerprint: fp + ":1"}
		for k, p := range f.Places {
			if at := p.location(f.Kernel); k == 0 {
				res.AddLocation(at)
			} else {
				res.RelatedLocations = append(res.RelatedLocations, at.WithMessage(message(p.Says+": "+p.Text)))
			}
		}
		run.AddResult(res)
	}
	return writeSARIF(w, sarif.NewReport().AddRun(run))
}

func (p *FaultPlace) location(kernel string) *sarif.Location {
	at := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewArtifactLocation().WithURI(uri(p.File)))
	if p.Line > 0 {
		r := sarif.NewRegion().WithStartLine(p.Line).WithSnippet(sarif.NewArtifactContent().WithText(p.Text))
		if p.Col > 0 {
			r.WithStartColumn(p.Col)
		}
		at.WithRegion(r)
	}
	return sarif.NewLocation().WithPhysicalLocation(at).AddLogicalLocation(sarif.NewLogicalLocation().WithName(kernel).WithKind("function"))
}
