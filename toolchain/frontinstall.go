package toolchain

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// frontPackaged lists the releases of Debian of which a front end is installed, oldest
// first: those whose nvcc needs no older host compiler than Debian has.
var frontPackaged = []struct{ release, suite string }{{"11.8", "bookworm"}, {"12.4", "trixie"}, {"12.5", experimental}}

// frontPackages are the compiler, the library that has its optimiser, the headers of CUDA
// (the package has the libraries, too: 0.8 GB that are read and not kept, because a part of
// a package has no checksum) and of the C++ core libraries.
var frontPackages = []string{packageName, "libnvvm4", "nvidia-cuda-dev", "libcu++-dev", "libcub-dev", "libthrust-dev"}

// frontHome is where Debian keeps what nvcc needs.
const frontHome = "usr/lib/nvidia-cuda-toolkit"

// frontInstall is the installation of NVIDIA's compiler of CUDA C++.
type frontInstall struct {
	*installer
	release string
	began   time.Time
}

func (f *frontInstall) tool() string { return "nvcc" }

// answers returns the version of an nvcc that has compiled a kernel.
func (f *frontInstall) answers(ctx context.Context, tree string) (string, error) {
	dir := filepath.Join(tree, "root", filepath.FromSlash(frontHome), "bin")
	if !executable(filepath.Join(dir, "nvcc")) {
		return "", fmt.Errorf("%s: no nvcc", dir)
	}
	id, err := identify(ctx, f.r, filepath.Join(dir, "nvcc"), "nvcc")
	if err != nil {
		return "", err
	}
	if release(id.Version) != f.release {
		return "", fmt.Errorf("%s: it is of release %s", dir, id.Version)
	}
	return id.Version, nil
}

func (f *frontInstall) build(ctx context.Context, tree string) (string, error) {
	f.began = time.Now()
	mirror := f.o.Mirror
	if mirror == "" {
		var err error
		if mirror, err = f.mirror(ctx); err != nil {
			return "", err
		}
	}
	sources := []aptSource{{mirror, f.suite, "main non-free"}}
	if f.suite == experimental {
		sources = append(sources, aptSource{mirror, unstable, "main non-free"})
	}
	if err := f.prepareSources(sources); err != nil {
		return "", err
	}
	what := Installed{Name: f.name, Package: packageName, Packages: map[string]string{}}
	if err := f.packages(ctx, frontPackages, filepath.Join(tree, "root"), wantedOfFront, &what); err != nil {
		return "", err
	}
	version, err := f.answers(ctx, tree)
	if err != nil {
		return "", fmt.Errorf("the unpacked compiler: %w", err)
	}
	what.Nvcc = version
	return version, record(tree, what)
}

func (f *frontInstall) describe(version, final string) []string {
	return []string{fmt.Sprintf("installed nvcc %s into %s in %v", version, final, time.Since(f.began).Round(time.Second)),
		"this is NVIDIA's non-free software; its licence is in " + filepath.Join(final, "root", copyrightFile)}
}

// wantedOfFront tells which files of the packages are kept: the compiler, headers and
// licences.
func wantedOfFront(name string) bool {
	switch {
	case strings.HasPrefix(name, frontHome+"/bin/"):
		return path.Base(name) != "nvcc.profile" // a link into /etc
	case strings.HasPrefix(name, frontHome+"/libdevice/"), strings.HasPrefix(name, "usr/include/"):
		return true
	case strings.HasPrefix(name, "usr/lib/"+multiarch+"/libnvvm."):
		return true
	}
	return strings.HasPrefix(name, "usr/share/doc/") && path.Base(name) == "copyright"
}
