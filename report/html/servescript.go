package html

// ServeScriptFile is the script that pages of a server load beside the one of
// all pages.
const ServeScriptFile = "assets/serve.js"

// ServeScript returns the content of ServeScriptFile.
func ServeScript() []byte { return asset("serve.js") }
