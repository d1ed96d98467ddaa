package kinds

// ClientSide reports whether a field manager is a tool that writes whole manifests and
// computes on its own side what to remove. Such a tool does not let go of a field that
// lynq applies too, so that the field would stay for ever when the form drops it.
//
// These are kubectl apply, create, replace and the generators run, expose and
// autoscale; "kubectl" as it called itself before 1.18; the manager that the
// server makes up for fields that were there before the first apply; and Helm,
// which updates up to version 3 and applies on the server from 4 on. Argo CD
// moves the first of them only, Flux everything that begins with kubectl. What
// people change by hand (kubectl edit, patch, label, set, scale, rollout) is
// left out on purpose: it is a person's decision, which is not in any manifest,
// and a conflict tells of it.
func ClientSide(manager string, applies bool) bool {
	switch manager {
	case "helm", "Helm":
		return true
	case "kubectl-client-side-apply", "before-first-apply", "kubectl", "kubectl-create", "kubectl-replace",
		"kubectl-run", "kubectl-expose", "kubectl-autoscale":
		return !applies
	}
	return false
}

// HeldBack are the fields on which others rely: no form that drops them removes what
// another manager set as well.
func HeldBack() [][]string { return [][]string{{"metadata", "finalizers"}, {"status"}} }
