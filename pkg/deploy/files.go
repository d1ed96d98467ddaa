package deploy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// mostBytes is the limit of the API server for the data of a ConfigMap.
const mostBytes = 1 << 20

// item is a key of a ConfigMap, and its path in a volume.
type item struct{ Key, Path string }

// keyed returns files by the keys of a ConfigMap. A key is the last part of a file's name, or the
// whole name if several files have that part. The items are nil if each key is a file's path.
func keyed(files []File, kind Kind) (map[string]string, []item, error) {
	data, bytes := map[string]string{}, 0
	var items []item
	paths := map[string]string{}
	for _, f := range files {
		if !utf8.ValidString(f.Text) {
			return nil, nil, fmt.Errorf("%s is not UTF-8, as ConfigMaps need it: convert it", f.Name)
		}
		key := free(data, f.Name)
		at := cmp.Or(f.Path, key)
		if first, twice := paths[at]; twice {
			return nil, nil, fmt.Errorf("pods would find %s and %s at the same path %s: rename one of them", first, f.Name, at)
		}
		paths[at], items = f.Name, append(items, item{key, at})
		data[key] = f.Text
		bytes += len(f.Text)
	}
	if bytes > mostBytes {
		return nil, nil, fmt.Errorf("the inputs have %d bytes, and a ConfigMap holds %d. Give the files of some forms, and print a %s for each part (%s names it). "+
			"Or build an image that has the files", bytes, mostBytes, kind, kind.Flag())
	}
	if !slices.ContainsFunc(files, func(f File) bool { return f.Path != "" }) {
		items = nil
	}
	return data, items, nil
}

// free returns a key that no other file has.
func free(taken map[string]string, name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	base := key(path.Base(name))
	if _, there := taken[base]; !there {
		return base
	}
	whole := key(strings.ReplaceAll(strings.Trim(path.Clean(name), "./"), "/", "_"))
	next := whole
	for i := 2; ; i++ {
		if _, there := taken[next]; !there {
			return next
		}
		extension := path.Ext(whole)
		next = strings.TrimSuffix(whole, extension) + "-" + strconv.Itoa(i) + extension
	}
}

// key turns a name into a key of a ConfigMap that lynqctl reads as a file of a directory: no
// hidden file, no kustomization, and with the extension of a manifest.
func key(name string) string {
	const longest = 200 // of 253, which leaves room for a unique suffix
	name = regexp.MustCompile(`[^-._a-zA-Z0-9]+`).ReplaceAllString(name, "_")
	extension := path.Ext(name)
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, extension) {
		name, extension = name+".yaml", ".yaml"
	}
	stem := strings.TrimSuffix(name, extension)
	if len(stem) > longest {
		stem = stem[len(stem)-longest:]
	}
	if stem = strings.TrimLeft(stem, "."); stem == "" || stem == "kustomization" {
		stem += "inputs"
	}
	return stem + extension
}

// digest returns a digest that changes with each file.
func digest(all ...map[string]string) string {
	h := sha256.New()
	for _, data := range all {
		for _, key := range slices.Sorted(maps.Keys(data)) {
			_, _ = fmt.Fprintf(h, "%d %s %d %s\n", len(key), key, len(data[key]), data[key]) // a hash takes all
		}
		_, _ = fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// block returns data as a block of YAML under a key of a ConfigMap.
func block(data map[string]string) (string, error) {
	text, err := yaml.Marshal(data)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String(), nil
}
