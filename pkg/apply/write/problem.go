package write

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Kind is the kind of a problem.
type Kind uint8

// The kinds of problems.
const (
	ProblemNone        Kind = iota
	ProblemOther            // no answer, or one that says nothing of the object
	ProblemFields           // other managers own fields
	ProblemMoved            // the object changed meanwhile: look again
	ProblemReplaced         // another object is there under the name, or none any more
	ProblemExists           // it is there already
	ProblemGone             // it is not there
	ProblemNoKind           // its kind is not served
	ProblemNoNamespace      // its namespace is not there
	ProblemEnding           // its namespace is being deleted
	ProblemImmutable        // a field changed that cannot
	ProblemInvalid          // the manifest is wrong, or what comes of it and the object
	ProblemMisfit           // the manifest does not fit its kind, whatever is there
	ProblemForbidden        // the user may not
	ProblemDenied           // admission refuses it: a webhook, a policy, a quota
)

// Problem says why a write failed.
type Problem struct {
	Kind      Kind
	Conflicts []fields.Conflict // of ProblemFields
	// Paths are the fields that ProblemImmutable and ProblemInvalid are about.
	Paths []string
	// Refused: the server refused the write, so that nothing of it was done. Not
	// so where an earlier try may have been.
	Refused bool
	// Hint is what to do about it, "" where the error says enough.
	Hint string
}

// ofTracking tells whether a field is a label by which nodes track objects.
func ofTracking(f fields.Conflict) bool {
	key, label := strings.CutPrefix(f.Field, ".metadata.labels.")
	return label && slices.Contains(TrackingLabels(), key)
}

// ProblemOf finds out what is wrong with a write that gave this error, nil too.
func ProblemOf(err error) Problem {
	switch {
	case err == nil:
		return Problem{}
	case errors.Is(err, ErrReplaced):
		return Problem{Kind: ProblemReplaced, Refused: true}
	case errors.Is(err, ErrMoved):
		return Problem{Kind: ProblemMoved, Refused: true}
	case errors.Is(err, ErrExists):
		return Problem{Kind: ProblemExists}
	case meta.IsNoMatchError(err):
		return Problem{Kind: ProblemNoKind, Refused: true, Hint: hintOf(ProblemNoKind)}
	}
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return Problem{Kind: ProblemOther}
	}
	status := answer.Status()
	p := classify(status)
	p.Hint = hintOf(p.Kind)
	switch p.Kind {
	case ProblemExists, ProblemMoved, ProblemReplaced:
	case ProblemMisfit:
		p.Refused, p.Hint = true, misfitHint(status.Message)
	default:
		// 408 is a request that the server gave up on, at whatever point.
		p.Refused = status.Code >= 400 && status.Code < 500 && status.Code != 408
	}
	return p
}

// classify reads the server's answer.
func classify(status metav1.Status) Problem {
	switch status.Reason {
	case metav1.StatusReasonConflict:
		return conflictOf(status)
	case metav1.StatusReasonAlreadyExists:
		return Problem{Kind: ProblemExists}
	case metav1.StatusReasonNotFound:
		return Problem{Kind: missing(status)}
	}
	if denied(status.Message) {
		return Problem{Kind: ProblemDenied}
	}
	switch {
	case status.Reason == metav1.StatusReasonForbidden:
		return Problem{Kind: forbidden(status)}
	case status.Reason == metav1.StatusReasonInvalid:
		return invalid(status)
	case Misfit(status.Message):
		return Problem{Kind: ProblemMisfit}
	case status.Reason == metav1.StatusReasonBadRequest:
		return Problem{Kind: ProblemInvalid}
	}
	return Problem{Kind: ProblemOther}
}

// conflictOf tells the conflicts apart that are all a 409.
func conflictOf(status metav1.Status) Problem {
	var conflicts []fields.Conflict
	for _, c := range causes(status) {
		if c.Type == metav1.CauseTypeFieldManagerConflict {
			conflicts = append(conflicts, fieldConflictOf(c))
		}
	}
	switch {
	case len(conflicts) > 0:
		return Problem{Kind: ProblemFields, Conflicts: fields.SortConflicts(conflicts)}
	case strings.Contains(status.Message, "uid mismatch"), strings.Contains(status.Message, "UID in precondition"),
		strings.Contains(status.Message, "UID in the precondition"):
		return Problem{Kind: ProblemReplaced}
	}
	return Problem{Kind: ProblemMoved}
}

func causes(status metav1.Status) []metav1.StatusCause {
	if status.Details == nil {
		return nil
	}
	return status.Details.Causes
}

// fieldConflictOf reads a cause whose message is
//
//	conflict with "MANAGER" [with subresource "SUBRESOURCE"] [using VERSION [at TIME]]
//
// where only updates have a version.
func fieldConflictOf(c metav1.StatusCause) fields.Conflict {
	f := fields.Conflict{Field: c.Field, Applied: true}
	rest, _ := strings.CutPrefix(c.Message, "conflict with ")
	f.Manager, rest = quoted(rest)
	if after, ok := strings.CutPrefix(rest, " with subresource "); ok {
		f.Subresource, rest = quoted(after)
	}
	f.Applied = !strings.HasPrefix(rest, " using ")
	return f
}

// quoted reads a quoted string at the beginning of a text.
func quoted(text string) (value, rest string) {
	prefix, err := strconv.QuotedPrefix(text)
	if err != nil {
		return text, ""
	}
	if value, err = strconv.Unquote(prefix); err != nil {
		return text, ""
	}
	return value, text[len(prefix):]
}

// missing tells what a 404 does not find: the object, its namespace or its kind.
func missing(status metav1.Status) Kind {
	switch {
	case status.Details == nil || status.Details.Name == "":
		return ProblemNoKind
	case status.Details.Kind == "namespaces" && status.Details.Group == "":
		return ProblemNoNamespace
	}
	return ProblemGone
}

// denied tells whether a webhook or a policy of the cluster refused.
func denied(message string) bool {
	return strings.Contains(message, "admission webhook ") && strings.Contains(message, " denied the request") ||
		strings.Contains(message, "ValidatingAdmissionPolicy '") && strings.Contains(message, " denied request")
}

// DeniedBy is the part of a server's message that names the webhook or the policy
// which refused, "" where there is none. It quotes nothing of an object.
func DeniedBy(message string) string {
	for _, who := range [][2]string{{`admission webhook "`, `" denied the request`}, {"ValidatingAdmissionPolicy '", "' denied request"}} {
		_, rest, found := strings.Cut(message, who[0])
		if names, _, ended := strings.Cut(rest, who[1]); found && ended {
			for _, name := range strings.Split(names, "' with binding '") {
				if !naming.IsDNS1123Subdomain(name) {
					return ""
				}
			}
			return who[0] + names + who[1]
		}
	}
	return ""
}

// forbidden tells a user who may not from what an admission plugin refuses.
func forbidden(status metav1.Status) Kind {
	ending := func(c metav1.StatusCause) bool { return c.Type == "NamespaceTerminating" }
	switch {
	case slices.ContainsFunc(causes(status), ending):
		return ProblemEnding
	case strings.Contains(status.Message, `User "`) && strings.Contains(status.Message, " cannot "):
		return ProblemForbidden
	}
	return ProblemDenied
}

// invalid tells fields that cannot change from other mistakes, and both from
// what only looks like them.
func invalid(status metav1.Status) Problem {
	// Only of a JSON patch that could not be applied does the server say nothing
	// at all: what its test or its path expects is not there any more.
	if d := status.Details; d == nil || d.Kind == "" && d.Name == "" && len(d.Causes) == 0 {
		return Problem{Kind: ProblemMoved}
	}
	var fixed, wrong []string
	for _, c := range causes(status) {
		switch {
		case c.Field == "metadata.uid":
			// A patch of what has another uid.
			return Problem{Kind: ProblemReplaced}
		case c.Field == "patch":
			// What a patch makes of the object is none of its kind.
			return Problem{Kind: ProblemMisfit}
		case immutable(c.Message):
			fixed = append(fixed, c.Field)
		case c.Field != "":
			wrong = append(wrong, c.Field)
		}
	}
	if len(fixed) > 0 {
		return Problem{Kind: ProblemImmutable, Paths: slices.Compact(fixed)}
	}
	return Problem{Kind: ProblemInvalid, Paths: slices.Compact(wrong)}
}

// immutable tells from a cause's message whether it is about a change that the
// server never allows.
func immutable(message string) bool { return ImmutableWords(message) != "" }

// ImmutableWords are the words by which a cause says that a field is immutable, "" where it
// doesn't. They quote no value.
func ImmutableWords(message string) string {
	message = strings.ToLower(message)
	for _, text := range []string{
		"immutable",               // most kinds; rules of custom resources
		"may not change once set", // Service
		"can not be unset",        // Service
		"cannot change roleref",   // RoleBinding, ClusterRoleBinding
		"updates to statefulset spec for fields other than",
		"pod updates may not change fields other than",
		"may not be changed in an update", // PriorityClass
		"are forbidden.",                  // StorageClass and CSINode: updates to parameters are forbidden.
	} {
		if strings.Contains(message, text) {
			return text
		}
	}
	return ""
}

// hintOf is what to do about a problem.
func hintOf(k Kind) string {
	switch k {
	case ProblemReplaced:
		return "another object is there now under its name; apply again"
	case ProblemNoKind:
		return "install its CustomResourceDefinition first, or correct apiVersion and kind"
	case ProblemImmutable:
		return "the field cannot change on an object that exists, which stays as it was: take the change back, or delete the object so that it is created again"
	case ProblemForbidden:
		return "ask for a role that allows it"
	case ProblemDenied:
		return "change the object, or the admission policy that denies it"
	}
	return ""
}

// Describe is an error of a write for people, with what to do about it.
// What an answer quotes of the content is left out where it may hold passwords:
// anything of a Secret, and of other kinds whole structures, such as the template
// of a Job with all its variables.
func Describe(ref lynq.Ref, err error) string {
	return describeWith(ref, err, ProblemOf(err).Hint)
}

func describeWith(ref lynq.Ref, err error, hint string) string {
	if told := (*NamespaceError)(nil); errors.As(InNamespace(ref.Namespace, orMakeNamespace, err), &told) {
		return told.Error()
	}
	p := ProblemOf(err)
	text := withoutStructures(err)
	if ref.Kind == "Secret" && ref.Group == "" {
		switch p.Kind {
		case ProblemImmutable, ProblemInvalid, ProblemMisfit, ProblemDenied, ProblemOther:
			text = withoutValues(p, err)
		}
	}
	if hint == "" {
		return text
	}
	return text + " (" + hint + ")"
}

// DescribeStep is Describe for the write of a step, which knows what its policies
// allow.
func DescribeStep(s *plan.Step, err error) string {
	p := ProblemOf(err)
	if p.Kind == ProblemImmutable && s.Object != nil && s.Live != nil {
		p.Hint = immutableHint(s, p.Paths)
	}
	return describeWith(s.Ref(), err, p.Hint)
}

// immutableHint is what to do about fields that cannot change on an object that exists.
func immutableHint(s *plan.Step, paths []string) string {
	hint := strings.Join(paths, ", ") + " cannot change on an object that exists, which stays as it was: take the change back, or "
	p := s.Object.Policy
	switch {
	case s.InPlace != "":
		return hint + "delete the object so that it is created again; patchStrategy recreate does not, since " + s.InPlace
	case p.Patch == lynq.PatchRecreate:
		return hint + "apply again, which recreates it"
	case s.Adopted || p.Deletion != lynq.DeleteDelete || p.Creation.Once():
		return hint + "delete the object so that it is created again"
	case s.Ref().HoldsData():
		return hint + "set patchStrategy: recreate and apply with --include-data, which deletes it with its data and creates it again"
	}
	return hint + "set patchStrategy: recreate, which deletes it and creates it again"
}

// withoutStructures is the text of an error without the structures that the
// server quotes in it.
func withoutStructures(err error) string {
	text := err.Error()
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return text
	}
	for _, c := range causes(answer.Status()) {
		text = strings.ReplaceAll(text, c.Message, withoutStructure(c.Message))
	}
	return text
}

// withoutStructure reads a cause such as
//
//	Invalid value: {"Containers":[…]}: field is immutable
//	Invalid value: "map[spec:map[…]]": cannot convert int64 to string
func withoutStructure(message string) string {
	what, rest, found := strings.Cut(message, " value: ")
	if quoted, err := strconv.QuotedPrefix(rest); err == nil && (strings.HasPrefix(quoted, `"map[`) || strings.HasPrefix(quoted, `"{`)) {
		return what + " value" + rest[len(quoted):]
	}
	if !found || rest == "" || rest[0] != '{' && rest[0] != '[' {
		return message
	}
	d := json.NewDecoder(strings.NewReader(rest))
	var quoted json.RawMessage
	if d.Decode(&quoted) != nil {
		return what + " value"
	}
	return what + " value" + rest[d.InputOffset():]
}

func withoutValues(p Problem, err error) string {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return err.Error() // from the client, which quotes no content
	}
	reason := string(answer.Status().Reason)
	if reason == "" {
		reason = fmt.Sprintf("status %d", answer.Status().Code)
	}
	if by := DeniedBy(answer.Status().Message); by != "" {
		return by + " (why is hidden, because it may quote the Secret's values)"
	}
	if p.Kind == ProblemMisfit {
		reason = cmp.Or(MisfitCause(answer.Status().Message), reason)
	}
	if len(p.Paths) == 0 {
		return "the server refused it: " + reason
	}
	return "the server refused it: " + reason + " " + strings.Join(p.Paths, ", ")
}
