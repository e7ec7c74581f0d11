package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"optcheck/internal/input"
)

// packages downloads packages one after the other, checks each against apt's signed list
// and unpacks what is wanted of it below root. The record gets their versions, and the
// checksum of the one that it is named after.
func (in *installer) packages(ctx context.Context, names []string, root string, want func(file string) bool, record *Installed) error {
	debs := filepath.Join(in.work, "debs")
	shows := make([][]byte, len(names))
	err := in.patiently(ctx, func() error { // a list that cannot be read is a mere warning of update
		in.say("reading the package list of %s", in.suite)
		if _, err := in.aptGet(ctx, "", "apt-get", "update"); err != nil {
			return err
		}
		var err error
		for i, p := range names {
			if shows[i], err = in.aptGet(ctx, "", "apt-cache", "--no-all-versions", "show", p); err != nil {
				return fmt.Errorf("%s is not in %s: %w", p, in.suite, err)
			}
		}
		in.say("downloading %s (%s)", strings.Join(names, ", "), megabytes(shows))
		_, err = in.aptGet(ctx, debs, "apt-get", append([]string{"download"}, names...)...)
		return err
	})
	if err != nil {
		return err
	}
	for i, name := range names {
		if err := in.unpackOne(ctx, name, shows[i], root, want, record); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// megabytes is the size of packages, of their records.
func megabytes(shows [][]byte) string {
	sum := 0
	for _, s := range shows {
		n, _ := strconv.Atoi(field(s, "Size")) // what is not said counts nothing
		sum += n
	}
	return fmt.Sprintf("%.1f MB", float64(sum)/1e6)
}

// unpackOne checks one downloaded package against the signed list, unpacks what is
// wanted of it and removes it.
func (in *installer) unpackOne(ctx context.Context, name string, show []byte, root string, want func(string) bool,
	record *Installed) error {
	version, sum := field(show, "Version"), field(show, "SHA256")
	if version == "" || sum == "" {
		return errors.New("no version or checksum in apt's answer")
	}
	found := input.Glob(in.work, "debs", name+"_*.deb")
	if len(found) != 1 {
		return fmt.Errorf("apt-get download left %d packages, not 1", len(found))
	}
	if err := checkSum(found[0], sum); err != nil {
		return err
	}
	record.Packages[name] = version
	if name == record.Package {
		record.Version, record.SHA256 = version, sum
	}
	in.say("unpacking %s %s", name, version)
	if err := in.unpackTree(ctx, found[0], root, want); err != nil {
		return err
	}
	return os.Remove(found[0])
}

// unpackTree extracts the wanted files of a package.
func (in *installer) unpackTree(ctx context.Context, deb, root string, want func(string) bool) error {
	r, w := io.Pipe()
	result := make(chan error, 1)
	go func() {
		err := extractTree(r, root, want)
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
