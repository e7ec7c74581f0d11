package a

import (
	"archive/zip"
	"crypto/tls"
	"go/parser"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
)

func opens(root *os.Root, flags int) {
	os.Open("x")                                   // want `os.Open opens what may be a pipe or a device`
	os.ReadFile("x")                               // want `os.ReadFile opens`
	os.ReadDir("x")                                // want `os.ReadDir opens`
	os.OpenFile("x", os.O_RDONLY, 0)               // want `os.OpenFile opens`
	os.OpenFile("x", os.O_RDWR|os.O_CREATE, 0o666) // want `os.OpenFile opens`
	os.OpenFile("x", os.O_WRONLY|os.O_CREATE, 0)   // want `os.OpenFile opens`
	os.WriteFile("x", nil, 0)                      // want `os.WriteFile opens`
	os.OpenFile("x", flags, 0)                     // want `os.OpenFile opens`
	os.DirFS("x")                                  // want `os.DirFS opens`
	root.Open("x")                                 // want `os.Open opens`
	root.ReadFile("x")                             // want `os.ReadFile opens`
	root.FS()                                      // want `os.FS opens`
	filepath.Glob("x")                             // want `filepath.Glob opens`
	filepath.WalkDir("x", nil)                     // want `filepath.WalkDir opens`
	zip.OpenReader("x")                            // want `zip.OpenReader opens`
	syscall.Open("x", 0, 0)                        // want `syscall.Open opens`
	open := os.Open                                // want `os.Open opens`
	open("x")
	os.Create("x")                     // want `os.Create opens`
	parser.ParseFile(nil, "x", nil, 0) // want `parser.ParseFile opens`
	http.FileServer(http.Dir("x"))     // want `http.Dir opens`
	tls.LoadX509KeyPair("x", "y")      // want `tls.LoadX509KeyPair opens`
	use(os.ReadFile)                   // want `os.ReadFile opens`
}

func use(func(string) ([]byte, error)) {}

func fine(root *os.Root, fsys fs.FS) {
	os.OpenFile("x", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	root.OpenFile("x", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0)
	os.OpenRoot("x")
	os.Stat("x")
	fs.ReadFile(fsys, "x")
	fsys.Open("x")
	os.Open("x") //input:allow a file of the kernel's
	//input:allow a file of the kernel's
	os.Open("x")
}

// All of it has a reason.
//
//input:allow files of the kernel's
func allowed() {
	os.Open("x")
	os.ReadFile("x")
}

func unused() {
	//input:allow a file of the kernel's // want `nothing is opened here that needs to be allowed`
	os.Stat("x")
	/* want `//input:allow needs a reason` */ //input:allow
	os.Open("x")
}
