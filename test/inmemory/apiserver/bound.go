package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// bind refuses a write of lynqctl that changes the ties of an object without the object's
// uid and version. Such a write could hit a change that lynqctl hasn't seen. A real server
// doesn't refuse it.
func (s *Server) bind(q *query, live *stored, next *draft) error {
	if q.manager != wellknown.FieldManager || live == nil || q.dryRun || !q.ties(live.draft, next) {
		return nil
	}
	bound, err := q.bound()
	if err != nil || bound {
		return err
	}
	s.loose = append(s.loose, fmt.Sprintf("lynqctl changed the ties of %s %s/%s without its uid and version", q.at.kind, q.at.namespace, q.at.name))
	return apierrors.NewBadRequest(s.loose[len(s.loose)-1])
}

// Loose returns the refused writes of lynqctl that could have hit a change that it hasn't
// seen.
func (s *Server) Loose() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.loose)
}

// ties reports whether a write changes owners, finalizers, labels or annotations, or sets
// the managers of fields.
func (q *query) ties(live, next *draft) bool {
	return !reflect.DeepEqual(live.GetOwnerReferences(), next.GetOwnerReferences()) ||
		!slices.Equal(live.GetFinalizers(), next.GetFinalizers()) ||
		!maps.Equal(live.GetLabels(), next.GetLabels()) || !maps.Equal(live.GetAnnotations(), next.GetAnnotations()) ||
		q.content == string(types.JSONPatchType) && strings.Contains(string(q.body), `"/metadata/managedFields`) ||
		q.content == string(types.MergePatchType) && q.sent.fields != nil
}

// bound reports whether a write names the uid and the version of its object. A JSON patch
// may test each value that it removes instead of the version.
func (q *query) bound() (bool, error) {
	if q.content != string(types.JSONPatchType) {
		return q.sent.GetUID() != "" && q.sent.GetResourceVersion() != "", nil
	}
	var ops []struct{ Op, Path string }
	if err := json.Unmarshal(q.body, &ops); err != nil {
		return false, apierrors.NewBadRequest(err.Error())
	}
	named := map[string]bool{}
	exact := true
	for _, op := range ops {
		named[op.Path] = named[op.Path] || op.Op != "remove"
		exact = exact && (op.Op == "test" || op.Op == "remove" && named[op.Path])
	}
	return named["/metadata/uid"] && (exact || named["/metadata/resourceVersion"]), nil
}
