package tracking

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// An update gives its manager all fields that it sets. The creation of an object also gives
// it the server's defaults. lynqctl records short hashes of fields that the form doesn't
// set, so that a changed default doesn't count as drift.

// LongestDefaults limits the length of Defaults, in characters.
const LongestDefaults = mostDefaults * shortHash

// shortHash is the number of characters for one field. mostDefaults limits the recorded
// fields.
const (
	shortHash    = 6
	mostDefaults = 64
)

// Defaults returns the hashes of fields, given by their paths. It returns false if there
// are too many.
func Defaults(paths []string) (string, bool) {
	if len(paths) > mostDefaults {
		return "", false
	}
	short := make([]string, len(paths))
	for i, p := range paths {
		short[i] = shortOf(p)
	}
	slices.Sort(short)
	return strings.Join(slices.Compact(short), ""), true
}

func shortOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:shortHash/2])
}

// Own returns a hash of the fields that lynq manages without the defaults, and of the
// seconds of its last changes. It returns "" if it can't read them.
func (l *Live) Own(defaults string) string {
	left := map[string]bool{}
	for i := 0; i+shortHash <= len(defaults); i += shortHash {
		left[defaults[i:i+shortHash]] = true
	}
	var text strings.Builder
	text.WriteString(l.Fields)
	updates := l.Rare().Updates
	for i := range updates {
		u := &updates[i]
		set := fieldpath.NewSet()
		if raw := u.Fields.GetRawReader(); raw.Size() > 0 && set.FromJSON(raw) != nil {
			return ""
		}
		var paths []string
		set.Iterate(func(p fieldpath.Path) {
			if path := p.String(); !left[shortOf(path)] {
				paths = append(paths, path)
			}
		})
		slices.Sort(paths)
		text.WriteString("\n" + u.Version + " " + u.At + "\n" + strings.Join(paths, "\n"))
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:8])
}

// Update has the fields that lynq manages by updates and patches in one API version.
type Update struct {
	Version, At string
	Fields      *metav1.FieldsV1
}

func updateOf(e *metav1.ManagedFieldsEntry) Update {
	u := Update{Version: e.APIVersion, Fields: e.FieldsV1}
	if e.Time != nil {
		u.At = e.Time.UTC().Format(time.RFC3339)
	}
	return u
}
