package e2e_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// parseRule parses VERB RESOURCE KEY=VALUE..., where * stands for any verb or resource. The
// keys are the fields of faultproxy.Rule with hyphens.
func parseRule(args []string) (faultproxy.Rule, error) {
	if len(args) < 3 {
		return faultproxy.Rule{}, fmt.Errorf("usage: fault VERB RESOURCE KEY=VALUE...")
	}
	rule := faultproxy.Rule{
		Verb:     strings.TrimPrefix(args[0], "*"),
		Resource: strings.TrimPrefix(args[1], "*"),
	}
	for _, arg := range args[2:] {
		key, value, _ := strings.Cut(arg, "=")
		if err := setField(&rule, key, value); err != nil {
			return faultproxy.Rule{}, fmt.Errorf("fault %s: %w", arg, err)
		}
	}
	return rule, nil
}

// setField sets one field of a rule from text.
func setField(rule *faultproxy.Rule, key, value string) (err error) {
	switch key {
	case "namespace":
		rule.Namespace = value
	case "name":
		rule.Name = value
	case "continue":
		rule.Continue, err = strconv.ParseBool(value)
	case "skip":
		rule.Skip, err = strconv.Atoi(value)
	case "times":
		rule.Times, err = strconv.Atoi(value)
	case "delay":
		rule.Delay, err = time.ParseDuration(value)
	case "status":
		rule.Status, err = strconv.Atoi(value)
	case "reason":
		rule.Reason = value
	case "retry-after":
		rule.RetryAfter, err = strconv.Atoi(value)
	case "end":
		rule.End = faultproxy.End(value)
	case "events":
		rule.Events, err = strconv.Atoi(value)
	default:
		err = fmt.Errorf("unknown key %q", key)
	}
	return err
}

func TestParseRule(t *testing.T) {
	for text, want := range map[string]faultproxy.Rule{
		"patch deployments.apps status=429 retry-after=1 times=2": {
			Verb: "patch", Resource: "deployments.apps", Status: 429, RetryAfter: 1, Times: 2},
		"* * delay=20ms": {Delay: 20 * time.Millisecond},
		"list configmaps continue=true status=410 reason=Expired skip=1": {
			Verb: "list", Resource: "configmaps", Continue: true, Status: 410, Reason: "Expired", Skip: 1},
		"watch pods end=close-after events=3 namespace=n name=p": {
			Verb: "watch", Resource: "pods", End: faultproxy.CloseAfter, Events: 3, Namespace: "n", Name: "p"},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := parseRule(strings.Fields(text))
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		})
	}
	for _, text := range []string{"", "patch pods", "patch pods nonsense=1", "patch pods status=x", "patch pods delay=1"} {
		t.Run(text, func(t *testing.T) {
			if rule, err := parseRule(strings.Fields(text)); err == nil {
				t.Errorf("%q is read as %+v, want an error", text, rule)
			}
		})
	}
}
