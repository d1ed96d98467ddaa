package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// explain turns a failed try into an error that names the request and the answer.
func (c *Client) explain(ctx context.Context, r *request, err error) error {
	tried, ended := &triedError{}, &interruptedError{}
	switch {
	case errors.As(err, &tried):
		return &triedError{tries: tried.tries, err: c.explain(ctx, r, tried.err)}
	case errors.As(err, &ended):
		return &interruptedError{cause: ended.cause, last: c.explain(ctx, r, ended.last)}
	}
	status := &apierrors.StatusError{}
	if errors.As(err, &status) {
		return c.explainStatus(ctx, r, err, status)
	}
	// The URL has parameters that don't help, and the error's text has the path of the
	// request.
	failed := &url.Error{}
	if errors.As(err, &failed) {
		if u, bad := url.Parse(failed.URL); bad == nil && u.Host != "" {
			return onTheWay(fmt.Errorf("%s at %s://%s: %w", r.text(), u.Scheme, u.Host, failed.Err))
		}
	}
	return fmt.Errorf("%s: %w", r.text(), err)
}

// explainStatus works like explain, for a server's answer.
func (c *Client) explainStatus(ctx context.Context, r *request, err error, status *apierrors.StatusError) error {
	if hidden, changed := hideKnown(c.secrets, status); changed {
		status, err = hidden, hidden
	}
	text, foreign := foreignText(status)
	concealed := false
	switch {
	case status.ErrStatus.Code == http.StatusNotFound && r.path == "" && unserved(status, text, foreign):
		return fmt.Errorf("%s: %w", r.text(), noKind(r.resource))
	case foreign:
		return fmt.Errorf("%s: %w", r.text(), &answerError{code: int(status.ErrStatus.Code), text: text, status: status, hidden: redact.HidesMessages(ctx)})
	case redact.HidesMessages(ctx):
		if hidden, changed := hideValues(status); changed {
			status, err, concealed = hidden, hidden, true
		}
	}
	if apierrors.IsForbidden(status) && !concealed {
		return err // it says who lacks which permission
	}
	return onTheWay(fmt.Errorf("%s: %w", r.text(), err))
}

// foreignText returns the text that came instead of a Status, from the API server itself or
// from a proxy.
func foreignText(status *apierrors.StatusError) (text string, foreign bool) {
	if status.ErrStatus.Details == nil {
		return "", false
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return cause.Message, true
		}
	}
	return "", false
}

// unserved reports whether a 404 means that the server doesn't know the kind. Such an
// answer is a text, or a Status without an object's name. Otherwise the object is missing.
func unserved(status *apierrors.StatusError, text string, foreign bool) bool {
	if foreign {
		return strings.HasPrefix(text, "404 page not found")
	}
	details := status.ErrStatus.Details
	return details == nil || details.Name == ""
}

func noKind(r lynq.APIResource) error {
	return &meta.NoKindMatchError{
		GroupKind:        schema.GroupKind{Group: r.Group, Kind: r.Kind},
		SearchedVersions: []string{r.Version},
	}
}

// answerError is an answer that no Kubernetes API sends.
type answerError struct {
	code   int
	text   string
	status *apierrors.StatusError
	hidden bool // the text may quote the request
}

// shown limits how many bytes of such a text an error shows.
const shown = 120

// Error implements error.
func (e *answerError) Error() string {
	if e.hidden {
		return fmt.Sprintf("HTTP status %d, but no Kubernetes API answered; the text is %s", e.code, hiddenText)
	}
	text := strings.Join(strings.Fields(e.text), " ")
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "..."
	}
	return fmt.Sprintf("HTTP status %d, but no Kubernetes API answered: %q", e.code, text)
}

// Unwrap returns client-go's status for the answer. It returns nil for a 404, because any
// proxy could then make an object look absent.
func (e *answerError) Unwrap() error {
	if e.code == http.StatusNotFound {
		return nil
	}
	return e.status
}

func isSecret(r lynq.APIResource) bool { return r.Group == "" && r.Plural == "secrets" }

// hideKnown removes the secret values of the run from a server's error.
func hideKnown(f *redact.Filter, e *apierrors.StatusError) (*apierrors.StatusError, bool) {
	out := e.ErrStatus.DeepCopy()
	out.Message = f.Hide(out.Message)
	changed := out.Message != e.ErrStatus.Message
	if out.Details != nil {
		for i := range out.Details.Causes {
			cause := &out.Details.Causes[i]
			before := cause.Message
			cause.Message = f.Hide(before)
			changed = changed || cause.Message != before
		}
	}
	if !changed {
		return e, false
	}
	return &apierrors.StatusError{ErrStatus: *out}, true
}

// hiddenText says why a part of a message is missing.
const hiddenText = "hidden, because it may quote secret values"

// hideValues removes values from a server's error about a Secret, or about an object with a
// secret column. Validation and admission quote them. It keeps reasons, fields, and
// messages that the server makes from names alone.
func hideValues(e *apierrors.StatusError) (*apierrors.StatusError, bool) {
	s := e.ErrStatus
	if ofNames(s) {
		return e, false
	}
	const hidden = hiddenText
	out := e.ErrStatus.DeepCopy()
	by, cause := write.DeniedBy(s.Message), cmp.Or(write.PlainCause(s.Message), write.MisfitCause(s.Message))
	switch {
	case by != "":
		out.Message = by + "; why is " + hidden
	case cause != "":
		out.Message = fmt.Sprintf("%s (HTTP status %d): %s; the rest of the message is %s", reasonText(s.Reason), s.Code, cause, hidden)
	default:
		out.Message = fmt.Sprintf("%s (HTTP status %d); the server's message is %s", reasonText(s.Reason), s.Code, hidden)
	}
	if out.Details == nil {
		return &apierrors.StatusError{ErrStatus: *out}, true
	}
	var fields []string
	for i := range out.Details.Causes {
		cause := &out.Details.Causes[i]
		if words := write.ImmutableWords(cause.Message); words != "" {
			cause.Message = words + "; the rest is " + hidden
		} else {
			cause.Message = hidden
		}
		if cause.Field != "" {
			fields = append(fields, fmt.Sprintf("%s (%s)", cause.Field, cause.Type))
		}
	}
	if len(fields) > 0 {
		out.Message += "; it is about " + strings.Join(fields, ", ")
	}
	return &apierrors.StatusError{ErrStatus: *out}, true
}

// ofNames reports whether the server made a message from names alone. A webhook or a policy
// may give its message any reason.
func ofNames(s metav1.Status) bool {
	if write.Denied(s.Message) {
		return false
	}
	switch s.Reason {
	case metav1.StatusReasonNotFound, metav1.StatusReasonAlreadyExists, metav1.StatusReasonConflict,
		metav1.StatusReasonUnauthorized, metav1.StatusReasonTooManyRequests, metav1.StatusReasonTimeout,
		metav1.StatusReasonServerTimeout, metav1.StatusReasonServiceUnavailable, metav1.StatusReasonExpired:
		return true
	case metav1.StatusReasonForbidden: // of authorization, which sees no content
		return strings.Contains(s.Message, `cannot `) && strings.Contains(s.Message, `resource "`)
	}
	return false
}

func reasonText(r metav1.StatusReason) string {
	if r == metav1.StatusReasonUnknown {
		return "the server refused it"
	}
	return "the server says " + string(r)
}
