package sighted

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Object is one version of an object.
type Object struct {
	lynq.Ref
	UID     types.UID
	Version string
}

// Notes tell what the last run noted. The zero value knows of no object.
type Notes struct {
	rules   string
	classes string
	digests []uint64 // one for each bucket of objects; 0 for one with objects that were not ready
}

const (
	// perBucket is how many objects share a digest, and are read if one of them changed.
	perBucket = 32
	// mostBuckets bounds a note to 16 KB.
	mostBuckets = 2048
	digestBytes = 6
)

// Parse reads a note that was made by the same rules of readiness. Any other text knows of
// no object.
func Parse(text, rules string) *Notes {
	parts := strings.Split(text, " ")
	if len(parts) != 3 || parts[0] != Short(rules) {
		return &Notes{}
	}
	raw, err := base64.RawStdEncoding.DecodeString(parts[2])
	n := len(raw) / digestBytes
	if err != nil || len(raw)%digestBytes != 0 || n == 0 || n > mostBuckets || bits.OnesCount(uint(n)) != 1 {
		return &Notes{}
	}
	notes := &Notes{rules: rules, classes: strings.TrimPrefix(parts[1], "-"), digests: make([]uint64, n)}
	for i := range notes.digests {
		var wide [8]byte
		copy(wide[8-digestBytes:], raw[i*digestBytes:])
		notes.digests[i] = binary.BigEndian.Uint64(wide[:])
	}
	return notes
}

// Classes is a digest of the storage classes by which claims were ready, "" where no claim
// depended on them.
func (n *Notes) Classes() string { return n.classes }

// Unsure finds the objects that may not be ready: those of a bucket in which not each
// object is as it was when all of them were ready. classes is a digest of the present
// storage classes, "" where they are not known.
func (n *Notes) Unsure(objects []Object, classes string) map[lynq.Ref]bool {
	unsure := map[lynq.Ref]bool{}
	now := make([]uint64, len(n.digests))
	for i := range objects {
		if len(now) > 0 {
			now[bucket(&objects[i], len(now))] ^= digest(&objects[i], n.rules, classes)
		}
	}
	for i := range objects {
		if len(now) == 0 {
			unsure[objects[i].Ref] = true
		} else if b := bucket(&objects[i], len(now)); n.digests[b] == 0 || n.digests[b] != now[b] {
			unsure[objects[i].Ref] = true
		}
	}
	return unsure
}

// Note notes the objects that are ready; ones that may not be ready have no version.
func Note(objects []Object, rules, classes string) string {
	n := 1
	for n < mostBuckets && n*perBucket < len(objects) {
		n *= 2
	}
	digests, spoilt := make([]uint64, n), make([]bool, n)
	for i := range objects {
		b := bucket(&objects[i], n)
		digests[b] ^= digest(&objects[i], rules, classes)
		spoilt[b] = spoilt[b] || objects[i].Version == "" || objects[i].UID == ""
	}
	raw := make([]byte, 0, n*digestBytes)
	for i, d := range digests {
		if spoilt[i] {
			d = 0
		}
		raw = append(raw, binary.BigEndian.AppendUint64(nil, d)[8-digestBytes:]...)
	}
	return fmt.Sprintf("%s -%s %s", Short(rules), classes, base64.RawStdEncoding.EncodeToString(raw))
}

// bucket is the one of an object, whatever its version.
func bucket(o *Object, of int) int {
	sum := sha256.Sum256([]byte(o.String() + "\x00" + o.Group))
	return int(binary.BigEndian.Uint32(sum[:4]) & uint32(of-1)) //nolint:gosec // a power of two, up to mostBuckets
}

// digest is of one version of an object. Claims may be ready by their storage classes.
func digest(o *Object, rules, classes string) uint64 {
	if o.Kind != "PersistentVolumeClaim" || o.Group != "" {
		classes = ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{rules, classes, o.Group, o.String(), string(o.UID), o.Version}, "\x00")))
	return binary.BigEndian.Uint64(sum[:8]) >> (64 - 8*digestBytes)
}

// Short names a text of any length in 16 characters.
func Short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
