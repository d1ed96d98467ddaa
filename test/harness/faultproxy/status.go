package faultproxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answer writes the Status object of a rule.
func answer(w http.ResponseWriter, rule Rule, q Request) error {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Code:     int32(rule.Status),
		Reason:   reason(rule),
		Message:  fmt.Sprintf("fault proxy: %d for %s %s", rule.Status, q.Verb, q.Resource),
		Details:  &metav1.StatusDetails{Name: q.Name, Kind: q.Resource},
	}
	w.Header().Set("Content-Type", "application/json")
	if rule.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(rule.RetryAfter))
		status.Details.RetryAfterSeconds = int32(rule.RetryAfter)
	}
	w.WriteHeader(rule.Status)
	return json.NewEncoder(w).Encode(status)
}

// reason returns the API server's usual reason for a status, unless the rule has its own.
func reason(rule Rule) metav1.StatusReason {
	if rule.Reason != "" {
		return metav1.StatusReason(rule.Reason)
	}
	switch rule.Status {
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusNotFound:
		return metav1.StatusReasonNotFound
	case http.StatusConflict:
		return metav1.StatusReasonConflict
	case http.StatusGone:
		return metav1.StatusReasonExpired
	case http.StatusUnprocessableEntity:
		return metav1.StatusReasonInvalid
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusInternalServerError:
		return metav1.StatusReasonInternalError
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusGatewayTimeout:
		return metav1.StatusReasonTimeout
	default:
		return metav1.StatusReasonUnknown
	}
}
