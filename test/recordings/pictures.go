package recordings

// Pictures returns the pictures of the documentation.
func Pictures() []Picture {
	return []Picture{lifecycle(), review(), gitops(), ownership(), deletion()}
}

func lifecycle() Picture {
	return Picture{"lifecycle", "The life of a tenant's objects", []Box{
		{0, 0, "Active row\na new tenant", ""},
		{1, 0, "Ready\nobjects match the form", "g"},
		{2, 0, "Leaving\nnothing is changed", "w"},
		{2, 1, "Deleted\nobjects with policy Delete", "r"},
		{1, 1, "Orphans\nobjects with policy Retain", ""},
	}, []Arrow{
		{"Active row", "Ready", "apply", false},
		{"Ready", "Leaving", "row is gone", false},
		{"Leaving", "Ready", "row returns", false},
		{"Leaving", "Deleted", "grace period ends", false},
		{"Deleted", "Orphans", "kept", false},
		{"Orphans", "Ready", "row returns: adopted", false},
	}}
}

func review() Picture {
	return Picture{"review", "Plan, review, apply", []Box{
		{0, 0, "lynqctl plan\nwrites plan.json", ""},
		{1, 0, "Review\na person approves", "g"},
		{2, 0, "lynqctl apply --plan\nmakes only these changes", ""},
		{1, 1, "Exit code 3\nnothing changes", "r"},
	}, []Arrow{
		{"lynqctl plan", "Review", "pull request", false},
		{"Review", "lynqctl apply --plan", "approved", false},
		{"lynqctl plan", "Exit code 3", "a guard refuses", true},
		{"lynqctl apply --plan", "Exit code 3", "something changed since", true},
	}}
}

func gitops() Picture {
	return Picture{"gitops", "From rows to the cluster through Git", []Box{
		{0, 0, "Database\none row per tenant", ""},
		{1, 0, "CI job\nlynqctl render", "g"},
		{2, 0, "Git\na folder per node", ""},
		{2, 1, "Argo CD or Flux\nkustomize", ""},
		{1, 1, "Cluster\nthe tenants' objects", ""},
	}, []Arrow{
		{"Database", "CI job", "reads rows", false},
		{"CI job", "Git", "commits", false},
		{"Git", "Argo CD or Flux", "pulls", false},
		{"Argo CD or Flux", "Cluster", "applies", false},
	}}
}

func ownership() Picture {
	return Picture{"ownership", "Who owns what in the cluster", []Box{
		{0, 0, "Hub record\nlynqhub-crm\na ConfigMap per hub", ""},
		{1, 0, "Inventory\nlynqnode-acme-web\na ConfigMap per node", "g"},
		{2, 0, "Objects\nDeployment, Service, …\nof tenant acme", ""},
		{2, 1, "Other tools\nHelm, kubectl,\nautoscalers", ""},
		{1, 1, "lynqctl\nchanges only objects with\ntracking and an entry", "g"},
	}, []Arrow{
		{"Hub record", "Inventory", "names its\nnamespace", false},
		{"Inventory", "Objects", "lists their uids", false},
		{"Objects", "Inventory", "tracking", false},
		{"Other tools", "Objects", "own other fields", false},
		{"lynqctl", "Inventory", "reads both sides", false},
	}}
}

func deletion() Picture {
	return Picture{"deletion", "How lynqctl deletes a node", []Box{
		{0, 0, "Row is gone\ninactive or missing", ""},
		{1, 0, "Grace period\nstatus shows Leaving", "w"},
		{2, 0, "Guards\nmay refuse the run", "w"},
		{2, 1, "Hooks\nsuch as a last backup", ""},
		{1, 1, "Objects\ndependents first", "r"},
		{0, 1, "Inventory\nlast", "r"},
	}, []Arrow{
		{"Row is gone", "Grace period", "the next run", false},
		{"Grace period", "Guards", "it ends", false},
		{"Guards", "Hooks", "they pass", false},
		{"Hooks", "Objects", "all complete", false},
		{"Objects", "Inventory", "deleted,\nor kept as orphans", false},
	}}
}
