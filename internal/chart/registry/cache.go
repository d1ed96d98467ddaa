package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/pkg/bounded"
)

// cache keeps bytes by their digest. Several processes may use its directory.
type cache struct {
	dir string

	mu   sync.Mutex
	kept map[string][]byte // what the directory can't take, so that watch downloads it once
}

// get returns the bytes with a digest, or nil. Another program may have changed a file, so it
// checks the bytes.
func (c *cache) get(digest, extension string, limit int64) []byte {
	c.mu.Lock()
	data := c.kept[digest]
	c.mu.Unlock()
	if data != nil || c.dir == "" {
		return data
	}
	name := c.name(digest, extension)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := bounded.ReadFile(name, limit)
	if err != nil || digestOf(data) != digest { // it is downloaded again
		return nil
	}
	return data
}

// put stores bytes on the disk, or in memory if the disk takes none.
func (c *cache) put(digest, extension string, data []byte) {
	if c.dir != "" && c.write(c.name(digest, extension), data) == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string][]byte{}
	}
	c.kept[digest] = data
}

// write writes a file that other processes see whole, or not at all.
func (c *cache) write(name string, data []byte) error {
	const private = 0o700
	if err := os.MkdirAll(c.dir, private); err != nil {
		return err
	}
	c.clean()
	file, err := os.CreateTemp(c.dir, unfinished) // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // nobody reads it
	}
	return err
}

// unfinished is the pattern of names of files that a process still writes.
const unfinished = "new-*"

// clean removes files of processes that were killed while they wrote them. It fails silently,
// because they only take space.
func (c *cache) clean() {
	const old = time.Hour
	names, _ := filepath.Glob(filepath.Join(c.dir, unfinished))
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > old {
			_ = os.Remove(name) // another process may have done so
		}
	}
}

func (c *cache) name(digest, extension string) string {
	return filepath.Join(c.dir, strings.ReplaceAll(digest, ":", "-")+extension)
}

// digestOf returns the digest of bytes.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
