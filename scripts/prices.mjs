// `npm run prices`: writes the public price data of the newest genai-prices, and of the models that only LiteLLM's price map knows, into
// src/server/money/pricing/shipped-prices.ts, and their licences beside it. Needs python3 with pip, which downloads the packages and checks them
// against the hashes of the registry. Decision 0028 says why these two.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { matches } from '../src/server/money/pricing/vendor-prices.ts'
import { vendorOf } from './lib/genai-prices.mjs'
import { modelOf as modelOfMap } from './lib/litellm-prices.mjs'
import { priceLicences } from './lib/notices.mjs'
import { commandOf, root, runNode } from './lib/process.mjs'

const run = promisify(execFile)
const packages = ['genai-prices', 'litellm']
const scratch = await mkdtemp(join(tmpdir(), 'prices-'))

try {
  const [first, second] = await Promise.all(packages.map(fetched))
  const vendors = withModelsOf(first.data.map(vendorOf), second.data)
  const sources = [first, second].map(({ name, version, sha256 }) => ({ name, version, sha256 }))
  const today = new Date().toISOString().slice(0, 10)
  const target = join(root, 'src/server/money/pricing/shipped-prices.ts')
  await writeFile(target, moduleOf({ sources, today, updateUrl: first.updateUrl, vendors }))
  await runNode(commandOf('@biomejs/biome', 'biome'), ['format', '--write', target], { quiet: true })
  const licences = [first, second].map(({ name, version, licence }) => `${name} ${version} (price data)\n\n${licence.trim()}\n`)
  await writeFile(join(root, priceLicences), licences.join(`\n${'─'.repeat(80)}\n\n`))
  for (const { name, version, sha256 } of sources) console.log(`${name} ${version}, SHA-256 ${sha256}`)
  console.log(`${vendors.reduce((sum, { models }) => sum + models.length, 0)} models of ${vendors.length} vendors`)
} finally {
  await rm(scratch, { recursive: true, force: true })
}

/** Downloads the newest wheel of a package, and reads its data, licence and version. */
async function fetched(name) {
  const target = join(scratch, name)
  await run('python3', ['-m', 'pip', 'download', '--no-deps', '--only-binary=:all:', '--dest', target, name])
  const [file] = await readdir(target)
  const path = join(target, file)
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
  const reader = join(root, 'scripts/lib/read-price-wheel.py')
  const { stdout } = await run('python3', [reader, name, path], { maxBuffer: 64 * 1024 * 1024 })
  return { name, version: file.split('-')[1], sha256, ...JSON.parse(stdout) }
}

/** Adds the models of the map that the vendors do not list. A vendor that is not in the first source gets only those. */
function withModelsOf(vendors, map) {
  const byVendor = Map.groupBy(
    Object.entries(map).flatMap(([key, entry]) => modelOfMap(key, entry) ?? []),
    ({ vendor }) => vendor.id,
  )
  const known = new Set(vendors.map(({ id }) => id))
  const added = [...byVendor].flatMap(([id, [{ vendor }]]) => (known.has(id) ? [] : [{ ...vendor, models: [] }]))
  return [...vendors, ...added].map((vendor) => {
    const others = (byVendor.get(vendor.id) ?? []).map(({ model }) => model)
    const unique = new Map(others.map((model) => [model.id.toLowerCase(), model]))
    return { ...vendor, models: [...vendor.models, ...[...unique.values()].filter((one) => !isListed(vendor, one))] }
  })
}

/** By any of the vendor's patterns: the first source decides for every name that it matches. */
function isListed({ models }, { id }) {
  return models.some((model) => matches(model.match, id.toLowerCase()))
}

function moduleOf({ sources, today, updateUrl, vendors }) {
  const lines = vendors.map(({ models, ...vendor }) => {
    const head = JSON.stringify(vendor).slice(0, -1)
    return `${head},"models":[\n${models.map((model) => JSON.stringify(model)).join(',\n')}\n]}`
  })
  const json = `[\n${lines.join(',\n')}\n]`
  if (/`|\$\{/.test(json)) throw new Error('the data has a sign that ends the text which it is written in')
  return `/**
 * Public prices in the form of genai-prices, one model a line. Written by \`npm run prices\` on ${today}; do not edit. Licences:
 * shipped-prices-licences.txt.
 */
export const shippedPrices = {
  sources: ${JSON.stringify(sources)},
  /** Where the first source publishes newer data. */
  updateUrl: '${updateUrl}',
  json: String.raw\`${json}\`,
}
`
}
