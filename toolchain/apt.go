package toolchain

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"optcheck/internal/input"
)

// toolNames are the programs of the package that are kept; they need nothing
// else of it (cuobjdump starts the nvdisasm beside it).
var toolNames = []string{"ptxas", "nvdisasm", "cuobjdump"}

// copyrightFile holds the licence, relative to the unpacked root.
const copyrightFile = "usr/share/doc/" + packageName + "/copyright"

const (
	downloadTimeout = 30 * time.Minute
	unpackTimeout   = 10 * time.Minute
	// maxUnpacked bounds one file of the package, in bytes; nvdisasm, the
	// largest, has 51 MB.
	maxUnpacked = 1 << 30
	keyring     = "/usr/share/keyrings/debian-archive-keyring.gpg"
)

// system runs a program of the operating system in the user's environment,
// which may hold the settings of a proxy.
func (in *installer) system(ctx context.Context, limit time.Duration, stdout io.Writer, dir, tool string, args ...string) ([]byte, error) {
	file, err := exec.LookPath(tool)
	if err != nil {
		return nil, fmt.Errorf("%s is needed, and not on this machine: this works on Debian and its derivatives", tool)
	}
	if file, err = filepath.Abs(file); err != nil {
		return nil, err
	}
	out, err := in.r.run(ctx, command{path: file, args: args, dir: dir, timeout: limit, stdout: stdout,
		env: append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")})
	if e, ok := err.(*Error); ok && e.Kind == ErrCompile {
		e.Kind = ErrInfrastructure
		e.Stderr = strings.TrimSpace(e.Stderr)
	}
	return out.stdout, err
}

// fetch downloads the package with apt into the work folder and returns its
// path. Lists and cache are private; apt checks the signature of the lists and
// the checksum of the package, and the latter is checked once more here.
func (in *installer) fetch(ctx context.Context, record *Installed) (string, error) {
	if err := in.prepare(ctx); err != nil {
		return "", err
	}
	in.say("reading the package list of %s", in.suite)
	var show []byte
	err := in.patiently(ctx, func() (err error) { // a list that cannot be read is a mere warning of update
		if _, err := in.aptGet(ctx, "", "apt-get", "update"); err != nil {
			return err
		}
		if show, err = in.aptGet(ctx, "", "apt-cache", "--no-all-versions", "show", packageName); err != nil {
			return fmt.Errorf("%s is not in %s: %w", packageName, in.suite, err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	record.Version, record.SHA256 = field(show, "Version"), field(show, "SHA256")
	if record.Version == "" || record.SHA256 == "" {
		return "", fmt.Errorf("apt-cache show %s: no version or checksum in its answer", packageName)
	}
	debs := filepath.Join(in.work, "debs")
	in.say("downloading %s %s (%s bytes)", packageName, record.Version, field(show, "Size"))
	err = in.patiently(ctx, func() error {
		_, err := in.aptGet(ctx, debs, "apt-get", "download", packageName+"="+record.Version)
		return err
	})
	if err != nil {
		return "", err
	}
	found := input.Glob(debs, packageName+"_*.deb")
	if len(found) != 1 {
		return "", fmt.Errorf("apt-get download left %d packages, not 1", len(found))
	}
	return found[0], checkSum(found[0], record.SHA256)
}

// prepare writes apt's private configuration.
func (in *installer) prepare(ctx context.Context) error {
	mirror := in.o.Mirror
	if mirror == "" {
		var err error
		if mirror, err = in.mirror(ctx); err != nil {
			return err
		}
	}
	return in.prepareSources([]aptSource{{mirror, in.suite, "non-free"}})
}

// aptSource is one archive to download from.
type aptSource struct{ mirror, suite, component string }

func (in *installer) prepareSources(sources []aptSource) error {
	for _, dir := range []string{"lists/partial", "cache/archives/partial", "debs"} {
		if err := os.MkdirAll(filepath.Join(in.work, dir), 0o755); err != nil {
			return err
		}
	}
	source := ""
	for _, s := range sources {
		source += fmt.Sprintf("Types: deb\nURIs: %s\nSuites: %s\nComponents: %s\n", s.mirror, s.suite, s.component)
		if _, err := os.Stat(keyring); err == nil {
			source += "Signed-By: " + keyring + "\n"
		}
		source += "\n"
	}
	list := filepath.Join(in.work, "debian.sources")
	in.apt = []string{
		"-oDir::Etc::SourceList=" + list, "-oDir::Etc::SourceParts=-",
		"-oDir::State::Lists=" + filepath.Join(in.work, "lists"), "-oDir::Cache=" + filepath.Join(in.work, "cache"),
		"-oAPT::Sandbox::User=root", "-oAPT::Get::AllowUnauthenticated=false",
		"-oAcquire::AllowInsecureRepositories=false", "-oAcquire::AllowWeakRepositories=false",
		"-oAcquire::AllowDowngradeToInsecureRepositories=false", "-oAcquire::Retries=3", "-qq",
	}
	if in.suite == experimental { // apt prefers any other suite unless it is told
		in.apt = append(in.apt, "-oAPT::Default-Release="+experimental)
	}
	return input.WriteFile(list, []byte(source))
}

// pauses lie between the tries of what needs the network. Apt itself tries again
// at once; a mirror that is being updated, or a proxy that starts again, takes
// longer.
var pauses = []time.Duration{3 * time.Second, 15 * time.Second, 45 * time.Second}

// patiently does what needs the network, again after a pause if it fails. What ran
// out of its time, which is long, is not done again.
func (in *installer) patiently(ctx context.Context, f func() error) error {
	for _, pause := range pauses {
		err := f()
		var e *Error
		if !errors.As(err, &e) || e.notStarted || errors.Is(err, ErrCancelled) || errors.Is(err, ErrTimeout) {
			return err
		}
		in.say("%v; trying again in %v", err, pause)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrCancelled, ctxErr(ctx))
		case <-time.After(pause):
		}
	}
	return f()
}

func (in *installer) aptGet(ctx context.Context, dir, tool string, args ...string) ([]byte, error) {
	return in.system(ctx, downloadTimeout, nil, dir, tool, append(append([]string{}, in.apt...), args...)...)
}

// indexTargets asks apt for this machine's archives, a line "URI|origin|label"
// each.
func (in *installer) indexTargets(ctx context.Context) (string, error) {
	out, err := in.system(ctx, time.Minute, nil, "", "apt-get", "indextargets",
		"--format", "$(REPO_URI)|$(ORIGIN)|$(LABEL)", "Created-By: Packages")
	return string(out), err
}

// mirror asks apt which Debian mirror this machine is set up with.
func (in *installer) mirror(ctx context.Context) (string, error) {
	out, err := in.indexTargets(ctx)
	if err != nil {
		return "", err
	}
	if m := pickMirror(out); m != "" {
		return m, nil
	}
	// Lists that were removed, as in images of containers, have no targets.
	uris, err := in.system(ctx, time.Minute, nil, "", "apt-get", "update", "--print-uris")
	if err != nil {
		return "", err
	}
	if m := pickMirror(archivesOf(string(uris))); m != "" {
		return m, nil
	}
	return "", errors.New("no Debian mirror in this machine's apt configuration (apt-get indextargets, apt-get update --print-uris)")
}

var distURI = regexp.MustCompile(`(?m)^'([^'\s]+)/dists/`)

// archivesOf are the archives whose lists apt would fetch, in the form of pickMirror.
func archivesOf(uris string) string {
	var b strings.Builder
	for _, m := range distURI.FindAllStringSubmatch(uris, -1) {
		fmt.Fprintf(&b, "%s/||\n", m[1])
	}
	return b.String()
}

var debianPath = regexp.MustCompile(`/debian/?$`)

// pickMirror chooses among lines "URI|origin|label": the first that calls
// itself Debian's main archive, else the first whose path looks like it. apt
// knows origin and label only after an update.
func pickMirror(targets string) string {
	guess := ""
	for line := range strings.Lines(targets) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 || strings.ContainsAny(f[0], " \t") || f[0] == "" {
			continue
		}
		if f[1] == "Debian" && f[2] == "Debian" {
			return f[0]
		}
		if guess == "" && debianPath.MatchString(f[0]) {
			guess = f[0]
		}
	}
	return guess
}

// field is the value of the first line "name: value" of a package record.
func field(record []byte, name string) string {
	for line := range strings.Lines(string(record)) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func checkSum(file, want string) error {
	f, err := input.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("%s: checksum %s, the signed list says %s", filepath.Base(file), got, want)
	}
	return nil
}

// unpack extracts the tools and the licence, and nothing else, from a package.
func (in *installer) unpack(ctx context.Context, deb, root string) error {
	r, w := io.Pipe()
	result := make(chan error, 1)
	go func() {
		err := extract(r, root)
		_, drained := io.Copy(io.Discard, r) // dpkg-deb must not block
		result <- errors.Join(err, drained)
	}()
	_, err := in.system(ctx, unpackTimeout, w, "", "dpkg-deb", "--fsys-tarfile", deb)
	w.CloseWithError(err) // nil means end of file
	extracted := <-result
	if err != nil {
		return err
	}
	return extracted
}

// extract writes the wanted files of a tar stream below root; all must be
// there, as plain files.
func extract(r io.Reader, root string) error {
	missing := map[string]os.FileMode{copyrightFile: 0o644}
	for _, t := range toolNames {
		missing["usr/bin/"+t] = 0o755
	}
	archive := tar.NewReader(r)
	for len(missing) > 0 {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the package lacks %d of the files needed, such as %s", len(missing), anyKey(missing))
		}
		if err != nil {
			return fmt.Errorf("read package: %w", err)
		}
		name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
		mode, wanted := missing[name]
		if !wanted {
			continue
		}
		if h.Typeflag != tar.TypeReg || h.Size > maxUnpacked {
			return fmt.Errorf("package: %s is no plain file of at most %d bytes", name, maxUnpacked)
		}
		delete(missing, name)
		to := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := writeSynced(to, archive, mode); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
	return nil
}

// anyKey is the first key in alphabetical order.
func anyKey(m map[string]os.FileMode) string {
	first := ""
	for k := range m {
		if first == "" || k < first {
			first = k
		}
	}
	return first
}
