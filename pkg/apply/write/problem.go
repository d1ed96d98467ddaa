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
	ProblemOther            // no answer, or an answer that isn't about the object
	ProblemFields           // other managers own fields
	ProblemMoved            // the object changed meanwhile: read it again
	ProblemReplaced         // another object has the name, or the object was deleted
	ProblemExists           // the object exists already
	ProblemGone             // the object doesn't exist
	ProblemNoKind           // the server doesn't serve its kind
	ProblemNoNamespace      // its namespace doesn't exist
	ProblemEnding           // somebody is deleting its namespace
	ProblemImmutable        // an immutable field changed
	ProblemInvalid          // the manifest is invalid, alone or with the live object
	ProblemMisfit           // the manifest doesn't fit its kind, whatever the live object
	ProblemForbidden        // the user lacks a permission
	ProblemDenied           // admission refuses it: a webhook, a policy, a quota
	ProblemWebhook          // an admission or conversion webhook gives no answer
	ProblemTooLarge         // the object exceeds a limit of the server
	ProblemTaken            // another object has a value that only one can have
	ProblemUnserved         // an entry of managedFields has a version that isn't served
)

// Problem says why a write failed.
type Problem struct {
	Kind      Kind
	Conflicts []fields.Conflict // only for ProblemFields
	// Paths are the fields of ProblemImmutable and ProblemInvalid.
	Paths []string
	// Refused is set if the server refused the write, and certainly did nothing of it. It
	// isn't set if an earlier attempt may have succeeded.
	Refused bool
	// Unserved is the API version of ProblemUnserved.
	Unserved string
	// Webhook is the admission webhook of ProblemWebhook, or "" for a conversion webhook.
	Webhook string
	// Hint says how to fix the problem, or is "" if the error is enough.
	Hint string
}

// ofTracking reports whether a field is a label that nodes use for tracking.
func ofTracking(f fields.Conflict) bool {
	key, label := strings.CutPrefix(f.Field, ".metadata.labels.")
	return label && slices.Contains(TrackingLabels(), key)
}

// ProblemOf finds out from its error why a write failed. The error may be nil.
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
	p.Hint = answerHint(p.Kind, status.Message)
	switch p.Kind {
	case ProblemExists, ProblemMoved, ProblemReplaced:
	case ProblemMisfit, ProblemTooLarge, ProblemTaken, ProblemUnserved:
		p.Refused = true
	default:
		// With 408 the server gave up on the request at some point, and may have done it.
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
	if Denied(status.Message) {
		return Problem{Kind: ProblemDenied}
	}
	switch {
	case status.Reason == metav1.StatusReasonForbidden:
		return Problem{Kind: forbidden(status)}
	case WebhookDown(status.Message) != "", ConversionDown(status.Message) != "":
		return Problem{Kind: ProblemWebhook, Webhook: WebhookDown(status.Message)}
	case TooLarge(status.Message), status.Reason == metav1.StatusReasonRequestEntityTooLarge:
		return Problem{Kind: ProblemTooLarge}
	case Unserved(status.Message) != "":
		return Problem{Kind: ProblemUnserved, Unserved: Unserved(status.Message)}
	case Taken(status.Message):
		return Problem{Kind: ProblemTaken}
	case status.Reason == metav1.StatusReasonInvalid:
		return invalid(status)
	case Misfit(status.Message):
		return Problem{Kind: ProblemMisfit}
	case status.Reason == metav1.StatusReasonBadRequest:
		return Problem{Kind: ProblemInvalid}
	}
	return Problem{Kind: ProblemOther}
}

// conflictOf distinguishes the conflicts that all have status 409.
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

// fieldConflictOf reads a cause with the message
//
//	conflict with "MANAGER" [with subresource "SUBRESOURCE"] [using VERSION [at TIME]]
//
// in which only updates have a version.
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

// missing finds out from a 404 whether the object, its namespace or its kind is missing.
func missing(status metav1.Status) Kind {
	switch {
	case status.Details == nil || status.Details.Name == "":
		return ProblemNoKind
	case status.Details.Kind == "namespaces" && status.Details.Group == "":
		return ProblemNoNamespace
	}
	return ProblemGone
}

// Denied reports whether a webhook or a policy of the cluster refused the write.
func Denied(message string) bool {
	return strings.Contains(message, "admission webhook ") && strings.Contains(message, " denied the request") ||
		strings.Contains(message, "ValidatingAdmissionPolicy '") && strings.Contains(message, " denied request")
}

// DeniedBy returns the part of a server's message that names the refusing webhook or
// policy, or "". It quotes no part of an object.
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

// forbidden distinguishes a missing permission from a refusal by an admission plugin.
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

// invalid distinguishes changes of immutable fields from other mistakes. It also finds
// answers that only look like these.
func invalid(status metav1.Status) Problem {
	// If a JSON patch can't be applied, the server gives no details. The value that the
	// patch's test or path expects has changed.
	if d := status.Details; d == nil || d.Kind == "" && d.Name == "" && len(d.Causes) == 0 {
		return Problem{Kind: ProblemMoved}
	}
	var fixed, wrong []string
	for _, c := range causes(status) {
		switch {
		case c.Field == "metadata.uid":
			// The patch is for an object with another uid.
			return Problem{Kind: ProblemReplaced}
		case c.Field == "patch":
			// The result of the patch isn't a valid object of its kind.
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

// immutable reports whether a cause's message is about a change that the server never
// allows.
func immutable(message string) bool { return ImmutableWords(message) != "" }

// ImmutableWords returns the words of a cause that say that a field is immutable, or "".
// They quote no value.
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

// hintOf says how to fix a problem.
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
	case ProblemTooLarge:
		return "make the object smaller, or split it: etcd stores at most about 1.5 MiB of an object, and a request has at most 3 MiB"
	case ProblemTaken:
		return "another object has this value: let that one go first, or choose another value"
	case ProblemUnserved:
		return "its CustomResourceDefinition no longer serves a version under which it was written: serve that version again, or remove its entries of metadata.managedFields"
	}
	return ""
}

// Describe describes an error of a write for people, with a fix. It leaves out quoted
// content that may have passwords. For a Secret it leaves out everything quoted. For other
// kinds it leaves out whole structures, such as the template of a Job with all its
// variables.
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
		case ProblemImmutable, ProblemInvalid, ProblemMisfit, ProblemDenied, ProblemWebhook, ProblemTooLarge, ProblemTaken, ProblemOther:
			text = withoutValues(p, err)
		}
	}
	if hint == "" {
		return text
	}
	return text + " (" + hint + ")"
}

// DescribeStep works like Describe for the write of a step, and knows which fixes its
// policies allow.
func DescribeStep(s *plan.Step, err error) string {
	p := ProblemOf(err)
	hint := p.Hint
	if hinted := (*hintedError)(nil); errors.As(err, &hinted) {
		hint = hinted.hint
	} else if p.Kind == ProblemImmutable && s.Object != nil && s.Live != nil {
		hint = immutableHint(s, p.Paths)
	}
	return describeWith(s.Ref(), err, hint)
}

// withoutStructures returns the text of an error without the structures that the server
// quotes.
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

// withoutStructure shortens a cause such as
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
		return err.Error() // errors of the client quote no content
	}
	reason := string(answer.Status().Reason)
	if reason == "" {
		reason = fmt.Sprintf("status %d", answer.Status().Code)
	}
	if by := DeniedBy(answer.Status().Message); by != "" {
		return by + " (why is hidden, because it may quote the Secret's values)"
	}
	if cause := PlainCause(answer.Status().Message); cause != "" {
		return "the server refused it: " + cause
	}
	if p.Kind == ProblemMisfit {
		reason = cmp.Or(MisfitCause(answer.Status().Message), reason)
	}
	if len(p.Paths) == 0 {
		return "the server refused it: " + reason
	}
	return "the server refused it: " + reason + " " + strings.Join(p.Paths, ", ")
}
