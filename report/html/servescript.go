package html

// Scripts that pages of a server load beside the one of all pages: ServeScriptFile all of them,
// EditorScriptFile the page to try things. The latter is CodeMirror, bundled by make editor.
const (
	ServeScriptFile  = "assets/serve.js"
	EditorScriptFile = "assets/editor.js"
)

// ServeScript returns the content of ServeScriptFile.
func ServeScript() []byte { return asset("serve.js") }

// EditorScript returns the content of EditorScriptFile.
func EditorScript() []byte { return asset("editor.js") }
