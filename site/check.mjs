// Checks the built pages: VitePress finds dead pages, and this finds dead anchors and
// searches that lead elsewhere.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import MiniSearch from 'minisearch'
import { address } from './pages.mjs'
import { words } from './words.mjs'

/** What people search for in trouble, and the place that they must find first. */
const searches = {
  'max-delete': 'applying.html#guards-max-delete-allow-empty',
  'immutable field': 'policies.html#changing-immutable-fields-recreate',
  'stuck finalizer': 'runbook.html#stuck-finalizer',
  rollback: 'runbook.html#rollback',
}

/** Returns a line for each search whose first result is another place. */
export async function lostSearches(dist) {
  const chunks = path.join(dist, 'assets', 'chunks')
  const file = readdirSync(chunks).find((f) => f.includes('localSearchIndex'))
  const { default: json } = await import(pathToFileURL(path.join(chunks, file)).href)
  const index = MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'], tokenize: words,
    searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } }, // those of VitePress
  })
  return Object.entries(searches).flatMap(([text, place]) => {
    const found = index.search(text)[0]?.id ?? 'nothing'
    return found === address.pathname + place ? [] : [`search "${text}": ${found} is first, not ${place}`]
  })
}

/** Returns a line for each link whose page or anchor doesn't exist. */
export function brokenLinks(dist) {
  const files = readdirSync(dist, { recursive: true }).filter((f) => f.endsWith('.html'))
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
