// Package apply is the use case of lynqctl apply: rows become nodes, nodes and the cluster
// become a plan, and the plan is carried out. A Job is one such run; adopt, diff, rebuild
// and watch carry out parts of one.
package apply
