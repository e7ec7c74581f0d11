// Package html makes the report that people look at: pages of a run for a
// browser, from a event.Set and nothing else.
//
// Write makes a folder of files that needs no server, no network and, for the
// basics, no JavaScript. Page is the frame of every page; a server uses the
// same one. Names out of a run are hostile until escaped: html/template does
// that in pages, Visible makes what cannot be seen visible, and names of files
// are hashes.
//
// It does not judge, and does not know where a set comes from.
package html

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"optcheck/event"
)

// Link is a link of a page, relative to the root of the report.
type Link struct{ Text, Href string }

// Page is the frame of a page: head, navigation and foot around a body.
type Page struct {
	// Title is the page's heading in the browser's tab.
	Title string
	// Crumbs lead from the overview to this page, without either.
	Crumbs []Link
	// Root leads from the page to the root of the report: "" or "../".
	Root string
	// Nav is the navigation, the overview first; Here is the Href of the entry
	// that the page belongs to.
	Nav  []Link
	Here string
	// Scripts are loaded after the page, relative to the root. app.js is always
	// there.
	Scripts []string
	// Claims is what is claimed of what the page shows, and what is not.
	Claims []string
	// Foot closes the page, such as the version of the tool.
	Foot string
	Body template.HTML
}

// Claims is what a run of programs says of them, in paragraphs; none of tests.
func Claims(c *event.Config) []string {
	text := strings.ReplaceAll(Short(strings.Join(strings.Fields(c.Claims), " "), 4000), " What is ", "\nWhat is ")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

//go:embed shell.tmpl
var shellText string

var shellTemplate = template.Must(template.New("shell").Funcs(funcs).Parse(shellText))

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	if err := shellTemplate.Execute(w, p); err != nil {
		return fmt.Errorf("page %q: %w", Short(p.Title, 80), err)
	}
	return nil
}

//go:embed assets
var assetFiles embed.FS

// Names of the files that every page needs, relative to the root of a report.
const (
	StyleFile  = "assets/style.css"
	ScriptFile = "assets/app.js"
)

// Style returns the style sheet of all pages: base.css, then the other ones by name.
func Style() []byte {
	out := asset("base.css")
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		panic(err) // embedded
	}
	for _, e := range entries {
		if n := e.Name(); strings.HasSuffix(n, ".css") && n != "base.css" {
			out = append(out, asset(n)...)
		}
	}
	return out
}

// Script returns the one script of all pages.
func Script() []byte { return asset("app.js") }

func asset(name string) []byte {
	b, err := assetFiles.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // embedded
	}
	return b
}
