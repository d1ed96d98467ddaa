package cmdflags

// The titles of the parts of a command's flags in its help. Other flags say what the command
// processes.
const (
	safety  = "Safety flags"
	output  = "Output flags"
	cluster = "Cluster flags"
)

// Sections returns the titles of the parts of help in their order.
func Sections() []string { return []string{safety, output, cluster} }

// SectionOf returns the part of a flag in help, or "".
func SectionOf(flag string) string {
	switch flag {
	case "adopt", "all", "allow-empty", "allow-empty-column", "allow-nondeterministic", "backup-dir", "cascade", "continue", "dry-run", "force",
		"include-data", "lock-timeout", "max-change", "max-delete", "max-delete-window", "no-finalizer", "no-grace", "plain-secrets", "plan",
		"recheck-tombstones", "remove-forms", "strict", "yes":
		return safety
	case "color", "events", "exit-code", "expand", "export-dir", "fail-on", "failed", "help", "keep-going", "log-format", "metrics-file", "metrics-per-node",
		"no-headers", "out", "output", "output-dir", "quiet", "record-values", "sort-by", "stream", "v", "version", "watch":
		return output
	case "all-namespaces", "concurrency", "context", "kubeconfig", "namespace", "timeout", "wait":
		return cluster
	}
	return ""
}
