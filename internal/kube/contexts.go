package kube

import (
	"fmt"
	"maps"
	"slices"
)

// Contexts returns the names of the kubeconfig's contexts, sorted. It asks no cluster.
func (a Access) Contexts() ([]string, error) {
	config, err := a.loader().RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return slices.Sorted(maps.Keys(config.Contexts)), nil
}
