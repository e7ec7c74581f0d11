package toolchain

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// debian is a pretended Debian machine: apt and dpkg-deb as scripts that serve
// one package from a folder.
type debian struct {
	bin, managed string
	calls        string // file with a line per call
	progress     bytes.Buffer
}

func script(t *testing.T, path, body string) {
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o700))
}

// toolScript answers like a tool of the given version.
func toolScript(name, version string) string {
	return fmt.Sprintf(`#!/bin/sh
case $1 in
--version) printf '%%s\n' '%[1]s: NVIDIA (R) x' 'Cuda compilation tools, release %[3]s, V%[2]s' 'Build b';;
--help) printf '%%s\n' '--gpu-name <x>' "'sm_50'" 'Default value';;
*) echo "ptxas probe.ptx, line 1; fatal   : Unsupported .version 99.9; current version is '7.2'" >&2; exit 255;;
esac
`, name, version, release(version))
}

// newDebian offers a package whose tools say they are of version, and whose
// files can be changed by edit.
func newDebian(t *testing.T, version string, edit func(map[string]string)) *debian {
	old := pauses
	pauses = make([]time.Duration, len(old))
	t.Cleanup(func() { pauses = old })
	d := &debian{bin: t.TempDir(), managed: filepath.Join(t.TempDir(), "managed")}
	d.calls = filepath.Join(d.bin, "calls")
	files := map[string]string{copyrightFile: "licence", "usr/bin/nvcc": "not wanted", "../../evil": "evil"}
	for _, tool := range toolNames {
		files["usr/bin/"+tool] = toolScript(tool, version)
	}
	if edit != nil {
		edit(files)
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, text := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	pkg := filepath.Join(d.bin, "package")
	require.NoError(t, os.WriteFile(pkg, archive.Bytes(), 0o600))
	log := "echo \"$0 $*\" >>" + d.calls + "\n"
	script(t, filepath.Join(d.bin, "apt-get"), log+`
case "$*" in
indextargets*) printf '%s\n' 'mirror:/debian-security/|Debian|Debian-Security' 'mirror:/debian/|Debian|Debian';;
*download*) for p in "$@"; do case $p in -*|download) ;; *) cp `+pkg+` "${p%%=*}_1_amd64.deb";; esac; done;;
esac
`)
	sum := sha256.Sum256(archive.Bytes())
	script(t, filepath.Join(d.bin, "apt-cache"), log+fmt.Sprintf("printf '%%s\\n' 'Version: 1' 'SHA256: %x'\n", sum))
	script(t, filepath.Join(d.bin, "dpkg-deb"), log+"exec cat \"$2\"\n")
	t.Setenv("PATH", d.bin+":/usr/bin:/bin")
	return d
}

func (d *debian) install(ctx context.Context, name string) (bool, error) {
	return Install(ctx, name, InstallOptions{Dir: d.managed, Progress: &d.progress, Runner: NewRunner(2, patient.Long)})
}

// visible lists what Discover could see in the managed folder.
func (d *debian) visible(t *testing.T) []string {
	var names []string
	entries, err := os.ReadDir(d.managed)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".lock-") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestInstall(t *testing.T) {
	d := newDebian(t, "11.8.89", nil)
	require.NoError(t, os.MkdirAll(filepath.Join(d.managed, ".new-cuda-11.8-1", "junk"), 0o700)) // of an interrupted run
	require.NoError(t, os.MkdirAll(filepath.Join(d.managed, "cuda-11.8", "root"), 0o700))        // broken
	done, err := d.install(context.Background(), "cuda-11.8")
	require.NoError(t, err)
	assert.True(t, done)
	assert.Equal(t, []string{"cuda-11.8"}, d.visible(t))
	var files []string
	root := filepath.Join(d.managed, "cuda-11.8")
	require.NoError(t, filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
		if !e.IsDir() {
			rel, _ := filepath.Rel(root, p)
			files = append(files, rel)
		}
		return err
	}))
	assert.Equal(t, []string{"installed.json", "root/usr/bin/cuobjdump", "root/usr/bin/nvdisasm", "root/usr/bin/ptxas",
		"root/" + copyrightFile}, files)
	calls, err := os.ReadFile(d.calls)
	require.NoError(t, err)
	assert.Contains(t, string(calls), "AllowInsecureRepositories=false")
	assert.Contains(t, d.progress.String(), "licence")

	require.NoError(t, os.Remove(d.calls))
	done, err = d.install(context.Background(), "cuda-11.8")
	require.NoError(t, err)
	assert.False(t, done)
	assert.NoFileExists(t, d.calls, "what is there is not fetched again")

	all, errs := Discover(context.Background(), Options{Managed: d.managed, Cache: "off", Env: func(string) string { return "" }})
	assert.Empty(t, errs)
	require.NotEmpty(t, all)
	assert.Equal(t, "managed", all[len(all)-1].Source)
}

// Whatever goes wrong is said, and leaves nothing behind.
func TestInstallFails(t *testing.T) {
	for _, c := range []struct {
		name, words string
		version     string
		edit        func(map[string]string)
		breakIt     func(*testing.T, *debian)
	}{
		{"wrong release", "release 11.2.152", "11.2.152", nil, nil},
		{"tool missing", "lacks 1 of the files", "11.8.89", func(f map[string]string) { delete(f, "usr/bin/nvdisasm") }, nil},
		{"tool broken", "ptxas", "11.8.89", func(f map[string]string) { f["usr/bin/ptxas"] = "#!/bin/sh\nkill -SEGV $$\n" }, nil},
		{"checksum", "checksum", "11.8.89", nil, func(t *testing.T, d *debian) {
			script(t, filepath.Join(d.bin, "apt-cache"), "printf '%s\\n' 'Version: 1' 'SHA256: 00'\n")
		}},
		{"not a package", "read package", "11.8.89", nil, func(t *testing.T, d *debian) {
			script(t, filepath.Join(d.bin, "dpkg-deb"), "seq 100000\n")
		}},
		{"unpacking fails", "bad archive", "11.8.89", nil, func(t *testing.T, d *debian) {
			script(t, filepath.Join(d.bin, "dpkg-deb"), "echo bad archive >&2; exit 2\n")
		}},
		{"signature", "not signed", "11.8.89", nil, func(t *testing.T, d *debian) {
			script(t, filepath.Join(d.bin, "apt-get"),
				"case \"$*\" in indextargets*) echo 'm:/debian||';; *) echo 'E: not signed' >&2; exit 100;; esac\n")
		}},
		{"no mirror", "no Debian mirror", "11.8.89", nil, func(t *testing.T, d *debian) {
			script(t, filepath.Join(d.bin, "apt-get"), "echo 'mirror:/ubuntu|Ubuntu|Ubuntu'\n")
		}},
		{"no apt", "apt-get is needed", "11.8.89", nil, func(t *testing.T, d *debian) { t.Setenv("PATH", t.TempDir()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDebian(t, c.version, c.edit)
			if c.breakIt != nil {
				c.breakIt(t, d)
			}
			done, err := d.install(context.Background(), "cuda-11.8")
			assert.False(t, done)
			assert.ErrorContains(t, err, "install cuda-11.8: ")
			assert.ErrorContains(t, err, c.words)
			assert.Empty(t, d.visible(t))
		})
	}
	_, err := Install(context.Background(), "cuda-99", InstallOptions{Dir: t.TempDir()})
	assert.ErrorContains(t, err, "cuda-11.2, cuda-11.8, cuda-12.4, cuda-12.5")
}

func TestInstallInterrupted(t *testing.T) {
	d := newDebian(t, "11.8.89", nil)
	begun := filepath.Join(d.bin, "begun")
	script(t, filepath.Join(d.bin, "dpkg-deb"), "head -c 100 \"$2\"; : >"+begun+"; sleep 3600\n")
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the user had enough")
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			if _, err := os.Stat(begun); err == nil {
				cancel(why)
				return
			}
			select {
			case <-over:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	_, err := d.install(ctx, "cuda-11.8")
	assert.ErrorIs(t, err, ErrCancelled)
	assert.ErrorIs(t, err, why)
	assert.Empty(t, d.visible(t))
}

// What fails for a while is tried again, and said; what keeps failing is given up.
func TestInstallPatience(t *testing.T) {
	d := newDebian(t, "11.8.89", nil)
	good := filepath.Join(d.bin, "good-apt-get")
	require.NoError(t, os.Rename(filepath.Join(d.bin, "apt-get"), good))
	count := filepath.Join(d.bin, "count")
	// Of updates and downloads, the first n of each fail.
	fail := func(n int) {
		_ = os.Remove(count)
		script(t, filepath.Join(d.bin, "apt-get"), fmt.Sprintf(`
case "$*" in
*update) what=update;;
*download*) what=download;;
*) exec %[1]s "$@";;
esac
echo $what >>%[2]s
if [ $(grep -c $what %[2]s) -le %[3]d ]; then echo 'E: Connection failed' >&2; exit 100; fi
exec %[1]s "$@"
`, good, count, n))
	}
	fail(len(pauses) + 1)
	done, err := d.install(context.Background(), "cuda-11.8")
	assert.False(t, done)
	assert.ErrorContains(t, err, "E: Connection failed")
	assert.Empty(t, d.visible(t))
	fail(len(pauses))
	done, err = d.install(context.Background(), "cuda-11.8")
	require.NoError(t, err)
	assert.True(t, done)
	calls, err := os.ReadFile(count)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("update\n", len(pauses)+1)+strings.Repeat("download\n", len(pauses)+1), string(calls))
	assert.Contains(t, d.progress.String(), "E: Connection failed; trying again in 0s")
}

// What fails in a way that does not pass is not tried again.
func TestPatience(t *testing.T) {
	newDebian(t, "11.8.89", nil) // without pauses
	for _, x := range []struct {
		err   error
		tries int
	}{
		{&Error{Kind: ErrInfrastructure}, len(pauses) + 1},
		{&Error{Kind: ErrTimeout}, 1},
		{&Error{Kind: ErrInfrastructure, notStarted: true}, 1},
		{errors.New("no tool's error"), 1},
		{nil, 1},
	} {
		n := 0
		err := (&installer{}).patiently(t.Context(), func() error { n++; return x.err })
		assert.Equal(t, x.err, err)
		assert.Equal(t, x.tries, n)
	}
}

// Of two at a time one installs, the other waits and finds it done.
func TestInstallTwice(t *testing.T) {
	d := newDebian(t, "11.8.89", nil)
	type result struct {
		done bool
		err  error
	}
	results := make(chan result, 2)
	for range 2 {
		go func() {
			done, err := Install(context.Background(), "cuda-11.8", InstallOptions{Dir: d.managed, Runner: NewRunner(1, patient.Long)})
			results <- result{done, err}
		}()
	}
	a, b := <-results, <-results
	require.NoError(t, a.err)
	require.NoError(t, b.err)
	assert.True(t, a.done != b.done)
}

func TestPickMirror(t *testing.T) {
	for want, in := range map[string]string{
		"":               "",
		"m:/debian/":     "m:/debian-security/|Debian|Debian-Security\nm:/debian/|Debian|Debian\n",
		"m:/x/debian":    "m:/other||\nm:/x/debian||\n",
		"m:/main":        "m:/debian/|Other|Other\nm:/main|Debian|Debian\n",
		"m:/only/debian": "garbage\n||\na b/debian||\nm:/only/debian||\n",
	} {
		assert.Equal(t, want, pickMirror(in))
	}
}

// TestInstallWithoutLists: a machine whose package lists were removed, such as an image of a
// container, still says which mirror it has.
func TestInstallWithoutLists(t *testing.T) {
	d := newDebian(t, "11.8.89", nil)
	apt, err := os.ReadFile(filepath.Join(d.bin, "apt-get"))
	require.NoError(t, err)
	text := strings.Replace(string(apt), "indextargets*) printf '%s\\n' 'mirror:/debian-security/|Debian|Debian-Security' 'mirror:/debian/|Debian|Debian';;",
		"indextargets*) ;;\n*--print-uris*) printf '%s\\n' \"'mirror:/debian-security/dists/bookworm-security/InRelease' a 0\" \"'mirror:/debian/dists/bookworm/InRelease' b 0\";;", 1)
	require.NotEqual(t, string(apt), text)
	require.NoError(t, os.WriteFile(filepath.Join(d.bin, "apt-get"), []byte(text), 0o700))
	_, err = d.install(t.Context(), "cuda-11.8")
	require.NoError(t, err)
	assert.Equal(t, []string{"cuda-11.8"}, d.visible(t))
}
