package toolchain

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"optcheck/internal/input"
)

// archiveKinds are the archives that Add reads, by their first bytes.
var archiveKinds = map[string]string{"!<arch>\n": "deb", "PK\x03\x04": "zip", "\xfd7zXZ\x00": "xz", "\x1f\x8b": "gzip",
	"\x28\xb5\x2f\xfd": "zstd", "BZh": "bzip2"}

// archiveKind tells what kind of archive a file is, "" for none.
func archiveKind(file string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := input.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 8)
	n, _ := io.ReadFull(f, head) // a shorter file is none
	for magic, kind := range archiveKinds {
		if strings.HasPrefix(string(head[:n]), magic) {
			return kind
		}
	}
	return ""
}

// unpacker takes NVIDIA's tools out of an archive.
type unpacker struct {
	*installer
	file, tree string
	tools      map[string]string // base name → name in the archive
}

// licence are names of files that say what a user of the tools may do.
var licence = regexp.MustCompile(`(?i)^(license|eula|copyright)(\.(txt|md|pdf|rst))?$`)

// maxLicence bounds such a file, in bytes.
const maxLicence = 4 << 20

// place is where a file of the archive is put, and its mode; "" if it is not wanted.
func (u *unpacker) place(name string) (string, os.FileMode) {
	base := path.Base(name)
	switch {
	case slices.Contains(toolNames, base):
		return path.Join("usr/bin", base), 0o755
	case licence.MatchString(base):
		return path.Join("usr/share/doc", filepath.Base(u.file), strings.ReplaceAll(name, "/", "-")), 0o644
	}
	return "", 0
}

// take writes one file of the archive, if it is wanted.
func (u *unpacker) take(name string, size int64, r io.Reader) error {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	to, mode := u.place(name)
	if to == "" {
		return nil
	}
	limit := int64(maxUnpacked)
	if mode == 0o644 {
		limit = maxLicence
	} else if old := u.tools[path.Base(name)]; old != "" {
		return fmt.Errorf("it holds two of %s: %s and %s; unpack it, and add the folder that is meant", path.Base(name), old, name)
	}
	if size > limit {
		return fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	full := filepath.Join(u.tree, "root", filepath.FromSlash(to))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if err := writeSynced(full, io.LimitReader(r, limit), mode); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("unpack %s: %w", name, err)
	}
	if mode != 0o644 {
		u.tools[path.Base(name)] = name
	}
	return nil
}

// unpack takes the tools out of the archive; that there is none is an error.
func (u *unpacker) unpack(ctx context.Context) error {
	u.say("unpacking %s", u.file)
	var err error
	switch kind := archiveKind(u.file); kind {
	case "zip":
		err = u.zip()
	case "deb":
		err = u.piped(ctx, "dpkg-deb", "--fsys-tarfile", u.file)
	case "xz":
		err = u.piped(ctx, "xz", "--decompress", "--stdout", u.file)
	default:
		err = u.compressed(kind)
	}
	if err == nil && len(u.tools) == 0 {
		err = fmt.Errorf("none of %s is in it", strings.Join(toolNames, ", "))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", u.file, err)
	}
	return nil
}

func (u *unpacker) zip() error {
	file, err := input.Open(u.file)
	if err != nil {
		return err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(file, st.Size())
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if to, _ := u.place(f.Name); to == "" || !f.Mode().IsRegular() {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		err = u.take(f.Name, int64(min(f.UncompressedSize64, 1<<62)), r)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// compressed reads a tar file that Go can decompress.
func (u *unpacker) compressed(kind string) error {
	f, err := input.Open(u.file)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader
	switch b := bufio.NewReader(f); kind {
	case "gzip":
		r, err = gzip.NewReader(b)
	case "zstd":
		var d *zstd.Decoder
		if d, err = zstd.NewReader(b, zstd.WithDecoderMaxMemory(256<<20)); err == nil {
			defer d.Close()
			r = d
		}
	default:
		r = bzip2.NewReader(b)
	}
	if err != nil {
		return err
	}
	return u.tar(r)
}

// piped reads the tar file that a program of the system makes of the archive.
func (u *unpacker) piped(ctx context.Context, tool string, args ...string) error {
	r, w := io.Pipe()
	result := make(chan error, 1)
	go func() {
		err := u.tar(r)
		_, drained := io.Copy(io.Discard, r) // the program must not block
		result <- errors.Join(err, drained)
	}()
	_, err := u.system(ctx, unpackTimeout, w, "", tool, args...)
	w.CloseWithError(err) // nil means end of file
	return cmp.Or(err, <-result)
}

func (u *unpacker) tar(r io.Reader) error {
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case h.Typeflag != tar.TypeReg:
			continue
		}
		if err := u.take(h.Name, h.Size, archive); err != nil {
			return err
		}
	}
}

// unpacked is one release out of archives, on its way into the managed folder.
type unpacked struct {
	*installer
	version string            // of ptxas
	files   map[string]string // tool → where it was unpacked
	docs    []string          // folders of licences
	record  Installed
}

// unpackArchives puts the tools of archives into the managed folder, and returns the
// folders that hold them then.
func (o InstallOptions) unpackArchives(ctx context.Context, archives []string) ([]string, error) {
	if len(archives) == 0 {
		return nil, nil
	}
	one := &installer{name: "archives", o: o, r: o.Runner}
	unlock, err := one.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	one.sweep()
	work, err := os.MkdirTemp(o.Dir, ".new-archives-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	releases, err := o.releases(ctx, archives, work)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, name := range slices.Sorted(maps.Keys(releases)) {
		u := releases[name]
		if u.files["ptxas"] == "" {
			return nil, fmt.Errorf("%s: no ptxas of release %s is in it; name it together with the archive that has one",
				strings.Join(slices.Sorted(maps.Keys(u.record.Archives)), ", "), name)
		}
		if err := u.nameIt(ctx); err != nil {
			return nil, err
		}
		if _, err := u.install(ctx); err != nil {
			return nil, err
		}
		dirs = append(dirs, filepath.Join(o.Dir, u.name, "root", "usr", "bin"))
	}
	return dirs, nil
}

// releases unpacks archives and sorts what was in them by release.
func (o InstallOptions) releases(ctx context.Context, archives []string, work string) (map[string]*unpacked, error) {
	out := map[string]*unpacked{}
	for i, file := range archives {
		sum, err := hashOf(file)
		if err != nil {
			return nil, err
		}
		in := &installer{name: filepath.Base(file), o: o, r: o.Runner}
		a := &unpacker{installer: in, file: file, tree: filepath.Join(work, fmt.Sprint(i)), tools: map[string]string{}}
		if err := a.unpack(ctx); err != nil {
			return nil, err
		}
		for _, tool := range slices.Sorted(maps.Keys(a.tools)) {
			path := filepath.Join(a.tree, "root", "usr", "bin", tool)
			id, err := identify(ctx, o.Runner, path, tool)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			u := out[release(id.Version)]
			if u == nil {
				u = &unpacked{installer: &installer{o: o, r: o.Runner}, files: map[string]string{}, record: Installed{Archives: map[string]string{}}}
				u.what = u
				out[release(id.Version)] = u
			}
			if u.files[tool] != "" {
				return nil, fmt.Errorf("%s: another archive has the %s of release %s, too; add one of them", file, tool, release(id.Version))
			}
			u.files[tool], u.record.Archives[filepath.Base(file)] = path, sum
			u.docs = append(u.docs, filepath.Join(a.tree, "root", "usr", "share", "doc"))
			if tool == "ptxas" {
				u.version = id.Version
			}
		}
	}
	return out, nil
}

// nameIt chooses a name in the managed folder: that of the release, or of the whole version
// if another build of the release has the former.
func (u *unpacked) nameIt(ctx context.Context) error {
	for _, name := range []string{"cuda-" + release(u.version), "cuda-" + u.version} {
		u.name, u.record.Name, u.record.Ptxas = name, name, u.version
		path := filepath.Join(u.o.Dir, name, "root", "usr", "bin", "ptxas")
		if !executable(path) {
			return nil
		}
		id, err := identify(ctx, u.r, path, "ptxas")
		if err != nil {
			return err
		}
		if id.Version == u.version {
			return nil
		}
	}
	return fmt.Errorf("%s is there, and of another version", u.name)
}

// answers returns the version of what is in a tree, if it has all that was unpacked.
func (u *unpacked) answers(ctx context.Context, tree string) (string, error) {
	for tool := range u.files {
		path := filepath.Join(tree, "root", "usr", "bin", tool)
		if !executable(path) {
			return "", fmt.Errorf("%s: missing", path)
		}
		id, err := identify(ctx, u.r, path, tool)
		if err != nil {
			return "", err
		}
		if tool == "ptxas" && id.Version != u.version {
			return "", fmt.Errorf("%s: it is of version %s", path, id.Version)
		}
	}
	return u.version, nil
}

// build moves what was unpacked into the tree of the installation.
func (u *unpacked) build(_ context.Context, tree string) (string, error) {
	bin := filepath.Join(tree, "root", "usr", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	for _, tool := range slices.Sorted(maps.Keys(u.files)) {
		if err := os.Rename(u.files[tool], filepath.Join(bin, tool)); err != nil {
			return "", err
		}
	}
	for _, dir := range u.docs {
		found := input.Glob(dir, "*")
		for _, from := range found {
			to := filepath.Join(tree, "root", "usr", "share", "doc", filepath.Base(from))
			if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(from, to)); err != nil {
				return "", err
			}
		}
	}
	return u.version, record(tree, u.record)
}

func (u *unpacked) describe(version, final string) []string {
	return []string{fmt.Sprintf("unpacked ptxas %s into %s", version, final)}
}
