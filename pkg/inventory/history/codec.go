package history

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

const (
	// format is the version of the data format that this package reads and writes.
	format    = 1
	keyFormat = "format"
	// Max is the largest number of runs in a history.
	Max = 50
	// maxEntry limits the bytes of an entry, and maxAll those of all entries. A ConfigMap
	// can have one MiB, and each run reads and writes all of it.
	maxEntry, maxAll = 32 << 10, 256 << 10
	// maxLines limits the objects of an entry.
	maxLines = 2000
	// maxPlain limits the uncompressed bytes of an entry when lynqctl reads it.
	maxPlain = 4 << 20
)

// Name returns the name of the ConfigMap with a hub's history.
func Name(hub string) string { return wellknown.HistoryPrefix + hub }

// UnreadableError says why lynqctl can't read a hub's history or one of its entries.
type UnreadableError struct {
	Namespace, Name string // of the ConfigMap
	Where           string // the place in the ConfigMap
	Err             error
}

// Error implements error.
func (e *UnreadableError) Error() string {
	fix := "restore it as it was, or delete it: the next run begins a new history"
	if newer := (*newerError)(nil); errors.As(e.Err, &newer) {
		fix = "use that lynqctl"
	}
	return fmt.Sprintf("ConfigMap %s/%s: %s: %v (%s)", e.Namespace, e.Name, e.Where, e.Err, fix)
}

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// newerError means that a newer lynqctl wrote the history.
type newerError struct{ format int }

func (e *newerError) Error() string {
	return fmt.Sprintf("a newer lynqctl wrote it: it has format %d, and this lynqctl knows %d", e.format, format)
}

// New returns the ConfigMap of an empty history.
func New(hub lynq.HubKey) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: Name(hub.Name), Namespace: hub.Namespace,
			Labels: map[string]string{wellknown.LabelRecord: wellknown.RecordHistory, wellknown.LabelHub: hub.Name, wellknown.LabelManagedBy: wellknown.ManagedBy},
		},
		Data: map[string]string{keyFormat: strconv.Itoa(format)},
	}
}

// HubOf returns the hub of a history's ConfigMap. The error is an *UnreadableError.
func HubOf(cm *corev1.ConfigMap) (lynq.HubKey, error) {
	hub := lynq.HubKey{Namespace: cm.Namespace, Name: cm.Labels[wellknown.LabelHub]}
	if hub.Name == "" || cm.Name != Name(hub.Name) || cm.Labels[wellknown.LabelRecord] != wellknown.RecordHistory {
		return hub, unreadable(cm, "metadata.labels", errors.New("they are not those of a hub's history"))
	}
	n, err := strconv.Atoi(cm.Data[keyFormat])
	switch {
	case err != nil:
		return hub, unreadable(cm, "data.format", fmt.Errorf("%q is no format", cmp.Or(cm.Data[keyFormat], "")))
	case n != format:
		return hub, unreadable(cm, "data.format", &newerError{n})
	}
	return hub, nil
}

func unreadable(cm *corev1.ConfigMap, where string, err error) error {
	return &UnreadableError{Namespace: cm.Namespace, Name: cm.Name, Where: where, Err: err}
}

// runs returns the keys of the entries, newest first.
func runs(cm *corev1.ConfigMap) []string {
	named := regexp.MustCompile(`^[0-9]{8}-[0-9]{9}-[a-z0-9]{4}$`)
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(cm.BinaryData)), func(k string) bool { return !named.MatchString(k) })
	slices.Reverse(keys)
	return keys
}

// Has reports whether the history has a run.
func Has(cm *corev1.ConfigMap, run string) bool { return cm.BinaryData[run] != nil }

// With returns the ConfigMap with one more entry. It drops the oldest entries that don't
// fit, and keeps the fields of other clients. A refusal replaces the same one before it, so
// that a job that tries again and again doesn't push out what others did. The error is an
// *UnreadableError, because lynqctl never overwrites a history that it can't read.
func With(cm *corev1.ConfigMap, e *Entry) (*corev1.ConfigMap, error) {
	if _, err := HubOf(cm); err != nil {
		return nil, err
	}
	text, err := encode(e)
	if err != nil {
		return nil, err
	}
	next := cm.DeepCopy()
	next.ManagedFields = nil
	old := runs(next)
	if next.BinaryData == nil {
		next.BinaryData = map[string][]byte{}
	}
	if len(old) > 0 && e.repeats(next.BinaryData[old[0]]) {
		delete(next.BinaryData, old[0])
		old = old[1:]
	}
	size := len(text)
	for i, run := range old {
		if size += len(next.BinaryData[run]); i >= Max-1 || size > maxAll {
			delete(next.BinaryData, run)
		}
	}
	next.BinaryData[e.Run] = text
	return next, nil
}

// repeats reports whether guards refused the same command for the same reasons before.
func (e *Entry) repeats(before []byte) bool {
	if e.Outcome != OutcomeRefused {
		return false
	}
	old, err := decode(before)
	return err == nil && old.Outcome == OutcomeRefused && old.Command == e.Command && slices.Equal(old.Refusals, e.Refusals)
}

// Entries returns a history's runs, newest first. The errors are *UnreadableErrors, and
// the result has the readable runs even then.
func Entries(cm *corev1.ConfigMap) ([]*Entry, error) {
	if _, err := HubOf(cm); err != nil {
		return nil, err
	}
	var entries []*Entry
	var errs []error
	for _, run := range runs(cm) {
		e, err := decode(cm.BinaryData[run])
		if err == nil && e.Run != run {
			err = fmt.Errorf("the entry is of run %q", e.Run)
		}
		if err != nil {
			errs = append(errs, unreadable(cm, "binaryData."+run, err))
			continue
		}
		entries = append(entries, e)
	}
	return entries, errors.Join(errs...)
}

// encode encodes an entry with as many objects as fit.
func encode(e *Entry) ([]byte, error) {
	for most := maxLines; ; most /= 2 {
		text, err := json.Marshal(e.shortened(most))
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		if b.Len() <= maxEntry || most == 0 {
			return b.Bytes(), nil
		}
	}
}

func decode(text []byte) (*Entry, error) {
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxPlain+1))
	switch {
	case err != nil:
		return nil, err
	case len(plain) > maxPlain:
		return nil, errors.New("it is too large")
	}
	e := &Entry{}
	return e, json.Unmarshal(plain, e)
}
