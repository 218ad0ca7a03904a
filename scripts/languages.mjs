// `npm run languages`: writes the overlays of src/web/lib/languages for the texts that users see. Those in traditional Chinese are made from the
// Chinese ones by OpenCC; those of other languages keep what is translated, lose what no text has, and are listed where one is missing. With --check it
// writes nothing and fails when something is out of date or missing.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Converter } from 'opencc-js/cn2t'
import { root } from './lib/process.mjs'
import { textsIn } from './lib/texts.mjs'

const toTraditional = Converter({ from: 'cn', to: 'twp' })
const languages = [
  { folder: 'zh-hant', base: 'zh', translate: toTraditional },
  { folder: 'ja', base: 'en', translate: undefined },
]
/** Screens that only admins see stay in the base of the language. */
const adminScreens = [
  'alerts',
  'channels',
  'incidents',
  'organisations',
  'overview',
  'quality',
  'redemptions',
  'settings',
  'top-ups',
  'users',
]
const contractOfUsers = [
  ...['chats', 'issues', 'money', 'organisation-roles', 'roles', 'units'].map((name) => `contract/${name}.ts`),
  ...[
    'batch',
    'budget',
    'destination',
    'external-identity',
    'incident',
    'ledger-row',
    'log',
    'organisation',
    'redemption',
    'sign-on',
    'site-cost',
    'status-page',
    'stored-file',
    'task',
    'token',
    'top-up',
    'user',
  ].map((name) => `contract/entities/${name}.ts`),
]

const check = process.argv.includes('--check')
const areas = groupBy(textsIn(['contract', 'web']).filter(isForUsers), ({ file }) => areaOf(file))
const faults = []
for (const { folder, base, translate } of languages) {
  for (const [area, texts] of areas) {
    const path = join(root, 'src/web/lib/languages', folder, `${area}.json`)
    const before = await readFile(path, 'utf8').catch(() => '{}')
    const known = JSON.parse(before)
    const wanted = [...new Set(texts.map((text) => text[base]))].sort()
    const said = wanted.map((text) => [text, translate ? translate(text) : known[text]])
    for (const [text, translation] of said) if (translation === undefined) faults.push(`${folder}/${area}.json lacks: ${text}`)
    const after = `${JSON.stringify(Object.fromEntries(said.filter(([, translation]) => translation !== undefined)), undefined, 2)}\n`
    if (after === before) continue
    if (check) faults.push(`${folder}/${area}.json is out of date: run \`npm run languages\``)
    else {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, after)
    }
  }
}
for (const fault of faults) console.error(fault)
process.exitCode = faults.length > 0 ? 1 : 0

function isForUsers({ file, zh, en }) {
  // Addresses and patterns without words are the same in every language.
  if (en.startsWith('/') || !/\p{L}/u.test((zh + en).replaceAll(/\{[^}]*\}/g, ''))) return false
  if (file.startsWith('contract/')) return file.startsWith('contract/clients/') || contractOfUsers.includes(file)
  return !adminScreens.some((name) => file.startsWith(`web/screens/${name}/`)) && !file.startsWith('web/ui/recording/')
}

/** `web/screens/tokens/texts.ts` belongs to `tokens`. */
function areaOf(file) {
  const [top, folder, name] = file.split('/')
  if (top === 'contract') return 'contract'
  return folder === 'screens' ? name : folder.replace(/\.ts$/, '')
}

function groupBy(items, keyOf) {
  const groups = new Map()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}
