package ui

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// ofTotal returns "2/3".
func ofTotal(n, total int) string { return fmt.Sprintf("%d/%d", n, total) }

// ago returns how long ago a time was, in kubectl's format, or "" for never.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(now.Sub(t), 0))
}

// when returns a time, and how long ago it was, or "" for never.
func when(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339) + " (" + ago(now, t) + " ago)"
}

// yesNo returns "yes" or "no".
func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// detailed returns a name with details in parentheses.
func detailed(name string, details []string) string {
	if len(details) == 0 {
		return name
	}
	return name + " (" + strings.Join(details, ", ") + ")"
}

// namespaceText names a namespace, if it is known.
func namespaceText(namespace string) []string {
	if namespace == "" {
		return nil
	}
	return []string{"namespace " + namespace}
}
