// Package charts compares the objects that lynqctl-chart renders with those of Helm itself.
//
// It is a module of its own, because Helm's actions need libraries that lynqctl doesn't.
package charts
