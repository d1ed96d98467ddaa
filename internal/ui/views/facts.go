package views

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// ofTotal is "2/3".
func ofTotal(n, total int) string { return fmt.Sprintf("%d/%d", n, total) }

// ago is how long ago something was, as kubectl has it, "" for never.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(now.Sub(t), 0))
}

// when is a time, and how long ago that is; "" for never.
func when(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339) + " (" + ago(now, t) + " ago)"
}

// yesNo is a truth as people read it.
func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// detailed is a name, and what else is known in parentheses.
func detailed(name string, details []string) string {
	if len(details) == 0 {
		return name
	}
	return name + " (" + strings.Join(details, ", ") + ")"
}

// namespaceText names a namespace, as far as it is known.
func namespaceText(namespace string) []string {
	if namespace == "" {
		return nil
	}
	return []string{"namespace " + namespace}
}
