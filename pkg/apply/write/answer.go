package write

import (
	"errors"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Unserved returns the API version under which a manager's entry was written, if the server
// refuses a write because the CustomResourceDefinition no longer serves that version, or "".
func Unserved(message string) string {
	found := regexp.MustCompile(`request to convert CR to an invalid group/version: ([-.a-z0-9]+/[a-z0-9]+)`).FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	return found[1]
}

// TooLarge reports whether a server's message says that an object exceeds the limit of
// etcd, which the server answers as an internal error.
func TooLarge(message string) bool {
	return strings.Contains(message, "etcdserver: request is too large") || strings.Contains(message, "trying to send message larger than max")
}

// Taken reports whether a server's message says that another object has a value that only
// one object can have, such as a node port, an IP address or a host.
func Taken(message string) bool {
	for _, sign := range []string{"is already allocated", "already in use", "is already defined in ingress", "is already taken", "already exists in another"} {
		if strings.Contains(message, sign) {
			return true
		}
	}
	return false
}

// TakenBy returns the server's messages that another object has a value that only one object
// can have, or "". They don't name the refused object.
func TakenBy(err error) string {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || !Taken(answer.Status().Message) {
		return ""
	}
	var said []string
	for _, c := range causes(answer.Status()) {
		if Taken(c.Message) {
			said = append(said, c.Message)
		}
	}
	if len(said) == 0 {
		return answer.Status().Message
	}
	return strings.Join(said, "\n")
}

// Permanent reports whether the same request never succeeds, although the server answers it
// with an internal error.
func Permanent(message string) bool {
	return Misfit(message) || TooLarge(message) || Unserved(message) != "" || Taken(message)
}

// WebhookDown returns the admission webhook that gave no answer, or "".
func WebhookDown(message string) string {
	if found := regexp.MustCompile(`failed calling webhook "([-.a-z0-9]+)"`).FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}

// ConversionDown returns the kind whose conversion webhook failed, or "".
func ConversionDown(message string) string {
	if found := regexp.MustCompile(`conversion webhook for ([-.a-zA-Z0-9/]+, Kind=[A-Za-z0-9]+) failed`).FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}

// Unloaded reports whether a server's message says that it can't load a kind's objects from
// etcd. It can't for a few moments after its start, and as long as a conversion webhook is
// down.
func Unloaded(message string) bool { return strings.Contains(message, "storage is (re)initializing") }

// PlainCause returns the part of a server's message that says why the cluster refused a
// request, or "". It quotes no part of an object, so it is safe for a Secret.
func PlainCause(message string) string {
	for _, pattern := range [][2]string{
		{`failed calling webhook "[-.a-z0-9]+"`, ""},
		{`conversion webhook for [-.a-zA-Z0-9/]+, Kind=[A-Za-z0-9]+ failed`, ""},
		{`exceeded quota: [-.a-z0-9]+, requested: [-./,= a-zA-Z0-9]+, used: [-./,= a-zA-Z0-9]+, limited: [-./,= a-zA-Z0-9]+`, "alone"},
		{`failed quota: [-.a-z0-9]+: must specify [-./,: a-zA-Z0-9]+`, "alone"},
		{`etcdserver: request is too large`, "alone"},
		{`trying to send message larger than max`, "alone"},
		{`Request entity too large: limit is [0-9]+`, "alone"},
		{`Too long: may not be more than [0-9]+ bytes`, "alone"},
		{`storage is \(re\)initializing`, "alone"},
	} {
		at := regexp.MustCompile(pattern[0]).FindStringIndex(message)
		switch {
		case at == nil:
		case pattern[1] == "alone":
			return message[at[0]:at[1]]
		default:
			return message[at[0]:at[1]] + unanswered(message[at[1]:])
		}
	}
	return ""
}

// unanswered returns why a webhook gave no answer, or "" if the text may quote an answer.
func unanswered(text string) string {
	for _, pattern := range []string{
		`dial tcp [][.:0-9a-f]+: connect: connection refused`,
		`dial tcp [][.:0-9a-f]+: (?:i/o timeout|connect: [a-z ]+)`,
		`lookup [-.a-z0-9]+(?: on [][.:0-9a-f]+)?: [a-z ]+`,
		`service "[-.a-z0-9]+" not found`,
		`no endpoints available for service "[-.a-z0-9]+"`,
		`context deadline exceeded`,
		`tls: [-a-z ]+`,
		`x509: [-a-z ]+`,
		`net/http: TLS handshake timeout`,
		`the server could not find the requested resource`,
		`EOF`,
	} {
		if found := regexp.MustCompile(pattern).FindString(text); found != "" {
			return ": " + strings.TrimSpace(found)
		}
	}
	return ""
}

// deniedHint says how to fix a write that admission refused.
func deniedHint(message string) string {
	switch {
	case strings.Contains(message, "exceeded quota: "):
		return "raise the ResourceQuota of the namespace, or delete objects that count against it"
	case strings.Contains(message, "failed quota: "):
		return "set the requests and limits that the ResourceQuota of the namespace requires"
	case strings.Contains(message, "attempting to grant RBAC permissions not currently held"):
		return "Kubernetes lets you grant only permissions that you have: ask for these, for the verb escalate on roles, or for the verb bind on the role"
	case strings.Contains(message, `violates PodSecurity "`):
		return "change the pod, or the label pod-security.kubernetes.io/enforce of the namespace"
	case regexp.MustCompile(`(?:maximum|minimum) \S+ (?:usage|limit) per|limit to request ratio per`).MatchString(message):
		return "change the resources, or the LimitRange of the namespace"
	}
	return hintOf(ProblemDenied)
}

// answerHint says how to fix a problem that the server's message shows.
func answerHint(k Kind, message string) string {
	switch k {
	case ProblemDenied:
		return deniedHint(message)
	case ProblemMisfit:
		return misfitHint(message)
	case ProblemWebhook:
		if kind := ConversionDown(message); kind != "" {
			return "repair the conversion webhook in the CustomResourceDefinition of " + kind + ", or the service that it names"
		}
		return "repair the service of webhook " + WebhookDown(message) + ", or delete its configuration: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"
	}
	return hintOf(k)
}
