// Checks the built pages: VitePress finds dead pages, and this finds dead anchors.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { address } from './pages.mjs'

/** Returns a line for each link whose page or anchor doesn't exist. */
export function brokenLinks(dist) {
  const files = readdirSync(dist).filter((f) => f.endsWith('.html'))
  const pages = new Map(files.map((f) => [f, readFileSync(path.join(dist, f), 'utf8')]))
  const ids = new Map([...pages].map(([f, html]) => [f, new Set(all(html, /\sid="([^"]*)"/g))]))
  const broken = []
  for (const [file, html] of pages) {
    for (const href of new Set(all(html, /<a\s[^>]*?href="([^"]*)"/g))) {
      const url = new URL(href.replaceAll('&amp;', '&'), new URL(file, address))
      if (url.origin !== address.origin || !url.pathname.startsWith(address.pathname)) continue
      const name = url.pathname.slice(address.pathname.length) || 'index.html'
      const hash = decodeURIComponent(url.hash.slice(1))
      if (!ids.has(name)) broken.push(`${file}: ${href}: there is no such page`)
      else if (hash && !ids.get(name).has(hash)) broken.push(`${file}: ${href}: ${name} has no such anchor`)
    }
  }
  return broken
}

function all(text, pattern) {
  return [...text.matchAll(pattern)].map((m) => m[1])
}
