package write_test

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestAnswers classifies answers of a real API server. cause is what even the error about a
// Secret shows, and hint is a part of the advice.
func TestAnswers(t *testing.T) {
	const internal = "Internal error occurred: "
	for _, tt := range []struct {
		code      int
		reason    metav1.StatusReason
		message   string
		want      write.Kind
		permanent bool
		cause     string
		hint      string
	}{
		{
			500, metav1.StatusReasonInternalError,
			internal + `failed calling webhook "validate.policy.example.com": failed to call webhook: Post "https://127.0.0.1:1/validate?timeout=2s": dial tcp 127.0.0.1:1: connect: connection refused`,
			write.ProblemWebhook, false,
			`failed calling webhook "validate.policy.example.com": dial tcp 127.0.0.1:1: connect: connection refused`, "webhook validate.policy.example.com",
		},
		{
			500, metav1.StatusReasonInternalError,
			internal + `failed calling webhook "mutate.example.com": failed to call webhook: Post "https://nothing.shop.svc:443/?timeout=1s": service "nothing" not found`,
			write.ProblemWebhook, false, `failed calling webhook "mutate.example.com": service "nothing" not found`, "webhook mutate.example.com",
		},
		{
			500, metav1.StatusReasonInternalError,
			internal + `failed calling webhook "slow.example.com": failed to call webhook: Post "https://127.0.0.1:19443/v?timeout=2s": context deadline exceeded`,
			write.ProblemWebhook, false, `failed calling webhook "slow.example.com": context deadline exceeded`, "webhook slow.example.com",
		},
		{
			500, metav1.StatusReasonInternalError,
			internal + `failed calling webhook "odd.example.com": received invalid webhook response: hunter2`,
			write.ProblemWebhook, false, `failed calling webhook "odd.example.com"`, "webhook odd.example.com",
		},
		{
			500, metav1.StatusReasonInternalError,
			internal + `conversion webhook for shop.example.com/v1, Kind=Conv failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
			write.ProblemWebhook, false, `conversion webhook for shop.example.com/v1, Kind=Conv failed: dial tcp 127.0.0.1:1: connect: connection refused`, "conversion webhook in the CustomResourceDefinition of shop.example.com/v1, Kind=Conv",
		},
		{
			403, metav1.StatusReasonForbidden,
			`configmaps "a" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1`,
			write.ProblemDenied, false, "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1", "raise the ResourceQuota",
		},
		{
			403, metav1.StatusReasonForbidden, `pods "p" is forbidden: failed quota: q: must specify requests.cpu for: c`,
			write.ProblemDenied, false, "failed quota: q: must specify requests.cpu for: c", "set the requests and limits",
		},
		{
			403, metav1.StatusReasonForbidden, `pods "p" is forbidden: maximum memory usage per Container is 1Gi, but limit is 3Gi`,
			write.ProblemDenied, false, "", "the LimitRange of the namespace",
		},
		{
			403, metav1.StatusReasonForbidden,
			`pods "p" is forbidden: violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true), privileged (container "c" must not set securityContext.privileged=true)`,
			write.ProblemDenied, false, "", "pod-security.kubernetes.io/enforce",
		},
		{
			403, metav1.StatusReasonForbidden,
			"roles.rbac.authorization.k8s.io \"r\" is forbidden: user \"dev\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"apps\"], Resources:[\"deployments/status\"], Verbs:[\"patch\"]}",
			write.ProblemDenied, false, "", "the verb escalate on roles",
		},
		{
			403, metav1.StatusReasonForbidden, `configmaps is forbidden: User "dev" cannot create resource "configmaps" in API group "" in the namespace "shop"`,
			write.ProblemForbidden, false, "", "ask for a role",
		},
		{
			422, metav1.StatusReasonInvalid, `replicasets.apps "r" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'few' denied request: too many`,
			write.ProblemDenied, false, "", "admission policy",
		},
		{500, "", "etcdserver: request is too large", write.ProblemTooLarge, true, "etcdserver: request is too large", "1.5 MiB"},
		{
			500, "", "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2500211 vs. 2097152)",
			write.ProblemTooLarge, true, "trying to send message larger than max", "1.5 MiB",
		},
		{413, metav1.StatusReasonRequestEntityTooLarge, "Request entity too large: limit is 3145728", write.ProblemTooLarge, false, "Request entity too large: limit is 3145728", "3 MiB"},
		{
			500, metav1.StatusReasonInternalError, internal + "failed to allocate requested HealthCheck NodePort 31888: provided port is already allocated",
			write.ProblemTaken, true, "", "another object has this value",
		},
		{429, metav1.StatusReasonTooManyRequests, "storage is (re)initializing", write.ProblemOther, false, "storage is (re)initializing", ""},
		{500, "", "request to convert CR to an invalid group/version: shop.example.com/v1alpha1", write.ProblemUnserved, true, "", "no longer serves a version"},
		{500, metav1.StatusReasonInternalError, internal + "etcdserver: leader changed", write.ProblemOther, false, "", ""},
	} {
		t.Run(string(tt.reason), func(t *testing.T) {
			err := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(tt.code), Reason: tt.reason, Message: tt.message, Details: &metav1.StatusDetails{Name: "a"}}}
			p := write.ProblemOf(err)
			if p.Kind != tt.want || !strings.Contains(p.Hint, tt.hint) || tt.hint == "" && p.Hint != "" {
				t.Errorf("%s:\ngot %d with hint %q\nwant %d with %q", tt.message, p.Kind, p.Hint, tt.want, tt.hint)
			}
			if tt.code == http.StatusInternalServerError {
				if got := write.Permanent(tt.message); got != tt.permanent {
					t.Errorf("%s: permanent is %v", tt.message, got)
				}
				if p.Refused != tt.permanent {
					t.Errorf("%s: refused is %v", tt.message, p.Refused)
				}
			}
			if got := write.PlainCause(tt.message); got != tt.cause {
				t.Errorf("%s:\nthe plain cause is %q, want %q", tt.message, got, tt.cause)
			}
			told := write.Describe(lynq.Ref{Kind: "Secret", Namespace: "shop", Name: "a"}, err)
			if strings.Contains(told, "hunter2") || tt.cause != "" && !strings.Contains(told, tt.cause) {
				t.Errorf("the error about a Secret is %q, want %q in it", told, tt.cause)
			}
		})
	}
}
