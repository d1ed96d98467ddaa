// Package page writes reports as one HTML page that needs no network and no script, for a
// CI artifact. If scripts run, a box filters the page.
//
// A Page of texts flows in, and bytes flow out. Texts are never markup, because
// html/template escapes them. The page forbids all scripts except its own.
package page
