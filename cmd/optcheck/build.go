package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"optcheck/internal/input"
)

// buildID identifies this very program: the hash of its file. Programs built
// from different sources, or for different machines, have different ones.
var buildID = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // also if the file was replaced meanwhile
	}
	sum, err := hashFile(path)
	if err != nil {
		return "", fmt.Errorf("the program's own file: %w", err)
	}
	return sum, nil
})

// hashFile is the SHA-256 of a file.
func hashFile(path string) (string, error) {
	f, err := input.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
