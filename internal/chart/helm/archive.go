package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

// within stands between an archive and a file in it.
const within = "!/"

// unpack returns the files of an archive, named from the chart. Archives below charts/ are
// unpacked too. name is for messages.
func unpack(name string, data []byte, b *budget, depth int) ([]*archive.BufferedFile, error) {
	if depth > maxDepth {
		return nil, badArchive(name, "archives are nested more than %d deep", maxDepth)
	}
	if err := checkArchive(name, data, b); err != nil {
		return nil, err
	}
	files, err := archive.LoadArchiveFiles(bytes.NewReader(data))
	if err != nil {
		return nil, badArchive(name, "%v", err)
	}
	return unpackSubcharts(name+"!", files, b, depth)
}

// unpackSubcharts replaces archives of subcharts by their files. Helm then reads them like
// directories, and each file has a name of its own.
func unpackSubcharts(where string, files []*archive.BufferedFile, b *budget, depth int) ([]*archive.BufferedFile, error) {
	all := make([]*archive.BufferedFile, 0, len(files))
	for _, f := range files {
		if !isSubchart(f.Name) {
			all = append(all, f)
			continue
		}
		inside := path.Join(where, f.Name)
		if strings.HasSuffix(where, "!") { // an address has slashes that Join would remove
			inside = where + f.Name
		}
		inner, err := unpack(inside, f.Data, b, depth+1)
		if err != nil {
			return nil, err
		}
		for _, i := range inner {
			all = append(all, &archive.BufferedFile{Name: f.Name + within + i.Name, Data: i.Data})
		}
	}
	return all, nil
}

// isSubchart reports whether Helm takes a file for the archive of a subchart. It skips names
// that begin with a dot or an underscore.
func isSubchart(name string) bool {
	rest := name
	for {
		below, ok := strings.CutPrefix(rest, "charts/")
		if !ok || strings.IndexAny(below, "_.") == 0 {
			return false
		}
		_, deeper, more := strings.Cut(below, "/")
		if !more {
			return path.Ext(below) == ".tgz"
		}
		rest = deeper
	}
}

// badArchive returns the problem of an archive.
func badArchive(name, format string, args ...any) error {
	return wrong(name, "make the archive with helm package", "the archive can't be used: "+format, args...)
}

// checkArchive refuses archives with links, with names that lead out, and with more than the
// budget, before anything is unpacked.
func checkArchive(name string, data []byte, b *budget) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return badArchive(name, "it isn't compressed with gzip")
	}
	limit := &io.LimitedReader{R: unzipped, N: 2 * maxTotal} // with headers, which count nowhere else
	entries := tar.NewReader(limit)
	seen := map[string]bool{}
	for headers := 0; ; headers++ {
		header, err := entries.Next()
		switch {
		case limit.N <= 0 || headers > 2*maxFiles:
			return badArchive(name, "it has more than %d MiB", maxTotal>>20)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return badArchive(name, "it is damaged: %v", err)
		}
		ok, err := checkEntry(header, seen)
		if err == nil && ok {
			var size int64
			if size, err = io.Copy(io.Discard, io.LimitReader(entries, maxFile+1)); err != nil {
				err = fmt.Errorf("it is damaged: %w", err)
			} else {
				err = b.take(size)
			}
		}
		if err != nil {
			return badArchive(name, "%v", err)
		}
	}
}

// checkEntry reports whether an entry is a file.
func checkEntry(header *tar.Header, seen map[string]bool) (bool, error) {
	switch header.Typeflag {
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return false, nil
	case tar.TypeReg:
	default:
		return false, fmt.Errorf("%q is a link or a device", header.Name)
	}
	name := strings.ReplaceAll(header.Name, `\`, "/")
	if path.IsAbs(name) || strings.Contains("/"+name+"/", "/../") {
		return false, fmt.Errorf("%q leads out of the archive", header.Name)
	}
	if name = path.Clean(name); seen[name] {
		return false, fmt.Errorf("%q is in it twice", header.Name)
	}
	seen[name] = true
	return true, nil
}
