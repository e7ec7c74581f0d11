package bug

import (
	"bytes"
	"fmt"
	"strings"

	"optcheck/event"
	"optcheck/report"
)

// machine shows source and machine order side by side, and the lines of the disassembly with
// those marked that the finding is about. If the finding is in PTX, that comes first.
func (b *bundler) machine() string {
	var out strings.Builder
	side := b.sideBySide()
	if side != "" && b.bad.ptx == nil {
		out.WriteString(side + "\n")
	}
	fmt.Fprintf(&out, "%s of the entry %s, by %s (%s):\n\n", capital(b.extent().String()), span(kernel(b.find.Thread)),
		span(b.road.words().dump), fileSpan(b.road.words().bad))
	out.WriteString(block("", b.road.marked()))
	if b.good != nil {
		fmt.Fprintf(&out, "\nFor comparison, %s at -%s, where every access is as written (%s):\n\n", span(b.good.tc.ID),
			b.good.level, fileSpan(b.road.words().good))
		out.WriteString(block("diff", b.diff()))
	}
	if side != "" && b.bad.ptx != nil {
		out.WriteString("\nWhat " + md("ptxas "+b.f.Toolchain.Version) + " makes of it. " + side)
	}
	return out.String()
}

// sideBySide shows the audited kernel, "" if there is no listing.
func (b *bundler) sideBySide() string {
	var side bytes.Buffer
	if b.in.Listing == nil || report.WriteListing(&side, b.in.Listing, []event.Finding{b.find}) != nil {
		return ""
	}
	return "Source and machine order in the kernel that was audited (its registers differ, because it carries its specification; `-` gone, `<` moved away from here, " +
		"`>` moved to here, `+` not in the source):\n\n" + block(
		"",
		side.String(),
	)
}

// marked lists the bad accesses with the wrong ones marked.
func (b *ptxRoad) marked() string {
	if b.extent() == controlled {
		return strings.Join(view(b.bad.lines, "text"), "\n")
	}
	pos := b.positions()
	rule := fmt.Sprintf("   <== %s: T%d #%d", b.find.Rule, b.find.Thread, b.find.Access)
	var lines []string
	hit := false
	for i, a := range b.bad.lines {
		l := a.text
		if pos != nil && pos[i] >= 0 {
			l = fmt.Sprintf("%-44s // #%d", l, pos[i])
			if pos[i] == b.find.Access {
				l, hit = l+rule, true
			}
		}
		lines = append(lines, l)
	}
	if !hit && b.find.Access >= 0 {
		lines = append(lines, fmt.Sprintf("%-44s // no instruction for #%d%s", "", b.find.Access, rule))
	}
	return strings.Join(lines, "\n")
}

// positions returns for each bad line the position of the source's access or fence, -1 for
// none; nil if the lines do not correspond to the audit's listing.
func (b *bundler) positions() []int {
	var list []int
	for _, t := range b.in.Listing.Threads {
		if t.Thread != b.find.Thread {
			continue
		}
		for _, l := range t.Machine {
			if _, ok := parseAccess(l.Text, true); !ok {
				continue
			}
			if l.Part {
				list = append(list, -1)
				continue
			}
			list = append(list, l.Pos)
		}
	}
	if len(list) != len(b.bad.lines) {
		return nil
	}
	return list
}
