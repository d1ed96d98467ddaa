package cli

import "testing"

func TestIsPlugin(t *testing.T) {
	for program, want := range map[string]bool{
		"kubectl-lynq": true, "/usr/bin/kubectl-lynq": true, "./kubectl-lynq.exe": true, "Kubectl-Lynq.EXE": true,
		"lynqctl": false, "/kubectl-lynq/lynqctl": false, "kubectl-lynq-x": false, "": false,
	} {
		t.Run(program, func(t *testing.T) {
			if got := IsPlugin(program); got != want {
				t.Errorf("%q: got %v, want %v", program, got, want)
			}
		})
	}
}
