// Package page writes reports as one HTML page that needs no network and no script, for a CI
// artifact. Where scripts run, a box filters what the page shows.
//
// A Page of texts flows in, and bytes flow out. Texts are never markup: html/template escapes
// them, and the page forbids all scripts but its own.
package page
