package source

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// IsPipe reports whether a connection reads a named pipe, which can be read only once.
func IsPipe(c endpoint.Connection) bool {
	if c.Path == "" || c.Path == "-" {
		return false
	}
	info, err := os.Stat(c.Path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// FileDigest hashes the text file that a connection reads, so that lynqctl notices
// changes. It returns "" for an unreadable file and for all other sources. Databases have
// transactions, and a pipe can be read only once.
func FileDigest(c endpoint.Connection) string {
	if c.Type.HasSQL() || c.Type.HasServer() {
		return ""
	}
	info, err := os.Stat(c.Path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := bounded.Open(c.Path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
