package kinds

// ClientSide reports whether a field manager is a tool that writes whole manifests, and that
// finds out itself which fields to remove. Such a tool keeps a field that lynqctl applies,
// too. So the field would stay forever when the form drops it.
//
// These tools are kubectl apply, create, replace, run, expose and autoscale, "kubectl" before
// version 1.18, and Helm, which updates up to version 3 and applies on the server from 4 on.
// The server invents one more manager, for fields from before the first apply. Argo CD moves
// the fields of kubectl apply only, and Flux those of all managers that begin with kubectl.
//
// Commands by which people change single fields (kubectl edit, patch, label, set, scale and
// rollout) aren't among them. No manifest has such a decision, and a conflict shows it.
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

// HeldBack returns the fields on which other clients rely. A form that drops them never removes
// what another manager set, too.
func HeldBack() [][]string { return [][]string{{"metadata", "finalizers"}, {"status"}} }
