package orphan

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// These are the steps that can fail. verbDiscover concerns kinds, and verbRecord concerns
// inventories.
const (
	verbDiscover = "discover"
	verbRecord   = "record"
	verbList     = "list"
	verbGet      = "get"
)

// Unreadable describes a kind or namespace that Find couldn't read.
type Unreadable struct {
	// Group and Kind name the kind that Find couldn't list or get. They are empty if Find
	// couldn't discover kinds or read inventories.
	Group, Kind string
	Verb        string // discover, record, list or get
	Err         error
}

// GroupKind returns for example "Deployment.apps", or "ConfigMap" for the core group.
func (u *Unreadable) GroupKind() string {
	return lynq.Ref{Group: u.Group, Kind: u.Kind}.GroupKind()
}

// why summarizes why Find couldn't read a kind.
func (u *Unreadable) why() string {
	if meta.IsNoMatchError(u.Err) {
		return "not served"
	}
	var answer apierrors.APIStatus
	if errors.As(u.Err, &answer) {
		message := answer.Status().Message
		if cause := write.PlainCause(message); cause != "" && !write.Unloaded(message) {
			return cause
		} else if cause != "" {
			return cause + "; the conversion webhook in their CustomResourceDefinition may be down"
		}
	}
	if reason := apierrors.ReasonForError(u.Err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return "not possible"
}

// tolerable reports whether an error concerns one kind alone. The user may lack the
// permission, or the kind disappeared, or its conversion webhook is broken. A failed login
// concerns all kinds.
func tolerable(err error) bool {
	var answer apierrors.APIStatus
	return meta.IsNoMatchError(err) || errors.As(err, &answer) && answer.Status().Code != http.StatusUnauthorized
}

// Warnings return one line for each gap in the result.
func (f *Found) Warnings() []string {
	var lines []string
	for i := range f.Unreadable {
		switch u := &f.Unreadable[i]; u.Verb {
		case verbDiscover:
			lines = append(lines, "some kinds are unknown, and there may be orphans of them: "+u.Err.Error())
		case verbRecord:
			lines = append(lines, "lynqctl can't list all inventories, and reports no stranded objects of other nodes: "+u.Err.Error())
		}
	}
	lines = append(lines, f.unread(verbList, "can't be listed, and lynqctl misses orphans among them")...)
	lines = append(lines, f.unread(verbGet, "can't be read, and lynqctl doesn't know everything about them")...)
	for _, b := range f.Broken {
		lines = append(lines, b.Error())
	}
	return append(lines, f.Ignored.Warnings()...)
}

// Unlisted returns the kinds that Find couldn't list, such as "Deployment.apps". Orphans of
// these kinds may exist.
func (f *Found) Unlisted() []string {
	var kinds []string
	for i := range f.Unreadable {
		switch u := &f.Unreadable[i]; u.Verb {
		case verbList:
			kinds = append(kinds, u.GroupKind())
		case verbDiscover:
			kinds = append(kinds, "kinds of a group that the API server can't list")
		}
	}
	return kinds
}

// shownKinds limits the kinds that a summary names. The warnings name all.
const shownKinds = 3

// Except completes a sentence that says that nothing was found, if Find couldn't list all
// kinds.
func (f *Found) Except() string {
	switch kinds := f.Unlisted(); {
	case len(kinds) == 0:
		return ""
	case len(kinds) > shownKinds:
		return fmt.Sprintf(", as far as lynqctl could look: it couldn't list %d kinds", len(kinds))
	default:
		return ", as far as lynqctl could look: it couldn't list " + strings.Join(kinds, ", ")
	}
}

// unread returns a line for each reason why Find couldn't read kinds.
func (f *Found) unread(verb, what string) []string {
	kinds := map[string][]string{}
	var whys []string
	for i := range f.Unreadable {
		u := &f.Unreadable[i]
		if u.Verb != verb {
			continue
		}
		why := u.why()
		if kinds[why] == nil {
			whys = append(whys, why)
		}
		kinds[why] = append(kinds[why], u.GroupKind())
	}
	var lines []string
	slices.Sort(whys)
	for _, why := range whys {
		lines = append(lines, "these kinds "+what+" ("+verb+": "+why+"): "+strings.Join(kinds[why], ", "))
	}
	return lines
}

// unreadables collects failed reads from several goroutines.
type unreadables struct {
	mu  sync.Mutex
	all []Unreadable
}

func (u *unreadables) add(one Unreadable) {
	u.mu.Lock()
	defer u.mu.Unlock()
	same := func(o Unreadable) bool { return o.Group == one.Group && o.Kind == one.Kind && o.Verb == one.Verb }
	if !slices.ContainsFunc(u.all, same) {
		u.all = append(u.all, one)
	}
}

// tolerate notes an error that concerns one kind alone, and returns any other.
func (u *unreadables) tolerate(r *lynq.APIResource, verb string, err error) error {
	if err == nil || !tolerable(err) {
		return err
	}
	u.add(Unreadable{Group: r.Group, Kind: r.Kind, Verb: verb, Err: err})
	return nil
}

// has reports whether this request for a kind failed.
func (u *unreadables) has(group, kind, verb string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.ContainsFunc(u.all, func(o Unreadable) bool { return o.Group == group && o.Kind == kind && o.Verb == verb })
}

// remove drops the failed reads for which the function returns true.
func (u *unreadables) remove(drop func(Unreadable) bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all = slices.DeleteFunc(u.all, drop)
}

func (u *unreadables) sorted() []Unreadable {
	u.mu.Lock()
	defer u.mu.Unlock()
	slices.SortFunc(u.all, func(a, b Unreadable) int {
		return cmp.Or(strings.Compare(a.GroupKind(), b.GroupKind()), strings.Compare(a.Verb, b.Verb))
	})
	return u.all
}
