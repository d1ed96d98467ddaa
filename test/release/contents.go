package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// entry is a file in an archive.
type entry struct {
	mode fs.FileMode
	time time.Time
	link string
}

// archive checks the contents of an archive: binaries, completions, manual pages, schemas.
func archive(content []byte, goos string) error {
	binary, helper, read := "lynqctl", "lynqctl-chart", tarred
	if goos == "windows" {
		binary, helper, read = "lynqctl.exe", "lynqctl-chart.exe", zipped
	}
	files, err := read(content)
	if err != nil {
		return err
	}
	errs := []error{wants(files, []string{binary, helper, "completions/kubectl_complete-lynq"}, 0o755)}
	errs = append(errs, wants(files, []string{
		"LICENSE", "README.md",
		"completions/lynqctl.bash", "completions/_lynqctl", "completions/lynqctl.fish", "completions/lynqctl.ps1",
		"man/lynqctl.1", "man/lynqctl-apply.1", "man/lynqctl-status-node.1",
		"schemas/lynq.schema.json", "schemas/lynqhub.schema.json", "schemas/lynqform.schema.json",
	}, 0))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !files[name].time.Equal(files[binary].time) {
			errs = append(errs, fmt.Errorf("%s has a time of its own, %s, and other files may too", name, files[name].time))
			break
		}
	}
	return errors.Join(errs...)
}

// deb checks the contents of a package for Debian.
func deb(content []byte) error {
	data, err := member(content, "data.tar.gz")
	if err != nil {
		return err
	}
	files, err := tarred(data)
	if err != nil {
		return err
	}
	if link := files["usr/bin/kubectl-lynq"].link; link != "lynqctl" {
		return fmt.Errorf("usr/bin/kubectl-lynq leads to %q", link)
	}
	return errors.Join(
		wants(files, []string{"usr/bin/lynqctl", "usr/bin/lynqctl-chart", "usr/bin/kubectl_complete-lynq"}, 0o755),
		wants(files, []string{
			"usr/share/bash-completion/completions/lynqctl", "usr/share/zsh/site-functions/_lynqctl",
			"usr/share/fish/vendor_completions.d/lynqctl.fish",
			"usr/share/man/man1/lynqctl.1", "usr/share/man/man1/lynqctl-apply.1", "usr/share/doc/lynqctl/copyright",
		}, 0),
	)
}

// wants returns an error for missing files, and for files with another mode. It ignores
// modes if mode is 0.
func wants(files map[string]entry, names []string, mode fs.FileMode) error {
	var errs []error
	for _, name := range names {
		f, there := files[name]
		switch {
		case !there:
			errs = append(errs, fmt.Errorf("%s is missing", name))
		case mode != 0 && f.mode.Perm() != mode:
			errs = append(errs, fmt.Errorf("%s has mode %o", name, f.mode.Perm()))
		}
	}
	return errors.Join(errs...)
}

// tarred returns the files of a tar.gz.
func tarred(content []byte) (map[string]entry, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	files := map[string]entry{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeDir {
			files[strings.TrimPrefix(h.Name, "./")] = entry{h.FileInfo().Mode(), h.ModTime, h.Linkname}
		}
	}
}

// zipped returns the files of a zip.
func zipped(content []byte) (map[string]entry, error) {
	r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	files := map[string]entry{}
	for _, f := range r.File {
		files[f.Name] = entry{mode: f.Mode(), time: f.Modified}
	}
	return files, nil
}

// member returns a file in a package for Debian. Such a package is an ar archive with heads
// of 60 bytes.
func member(content []byte, name string) ([]byte, error) {
	const magic, head = "!<arch>\n", 60
	rest, ok := bytes.CutPrefix(content, []byte(magic))
	for ok && len(rest) >= head {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || head+size > len(rest) {
			return nil, errors.New("it is no package for Debian")
		}
		if strings.TrimRight(strings.TrimSpace(string(rest[:16])), "/") == name {
			return rest[head : head+size], nil
		}
		rest = rest[min(head+size+size%2, len(rest)):]
	}
	return nil, fmt.Errorf("it has no %s", name)
}
