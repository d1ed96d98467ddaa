package planfile

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Key makes digests that nobody can guess without it. It comes from the uids of namespaces,
// which are random and never change. A File doesn't have these uids, and only people who
// may read the namespaces know them.
type Key struct{ secret []byte }

// NewKey makes a key from the uids of namespaces. The map's keys are the names.
func NewKey(uids map[string]string) Key {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, "lynqctl plan")
	for _, name := range slices.Sorted(maps.Keys(uids)) {
		_, _ = fmt.Fprintf(h, "%s %s\n", name, uids[name])
	}
	return Key{h.Sum(nil)}
}

// digest returns 32 hex digits. Equal bytes give different digests for different purposes.
func (k Key) digest(purpose string, b []byte) string {
	h := hmac.New(sha256.New, k.secret)
	_, _ = fmt.Fprintf(h, "%s\n", purpose)
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// of returns the digest of a value in JSON.
func (k Key) of(purpose string, v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return k.digest(purpose, b), nil
}

// seal returns the digest of a file without its id.
func (k Key) seal(f *File) (string, error) {
	bare := *f
	bare.ID = ""
	return k.of("file", bare)
}
