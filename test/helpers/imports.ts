import { posix } from 'node:path'

/**
 * The import rules of the architecture, checked only on paths and import lines. The server has wings, in this order, and each wing has
 * rooms: a file may import the contract, its own room, the rooms before it in its wing, and the wings before its own; nothing else.
 */
const wings: Readonly<Record<string, readonly string[]>> = {
  base: ['lib', 'env', 'db', 'bus', 'options', 'open-core'],
  usage: ['imported-logs', 'filter', 'calls', 'sums', 'log', 'recordings', 'telemetry'],
  money: ['ledger', 'payments', 'pricing'],
  people: ['notify', 'accounts', 'organisations', 'tokens'],
  gateway: ['limits', 'moderation', 'protocols', 'providers', 'channels', 'relay', 'files', 'tasks', 'batches'],
  watch: ['status-page', 'parts', 'quality', 'alerts', 'jobs'],
  console: ['calls', 'http'],
  run: ['app', 'welcome', 'serve', 'supervisor', 'start', 'prepare-start', 'import', 'commands'],
}

/** All rooms in order, as `wing/room`. */
const order = Object.entries(wings).flatMap(([wing, rooms]) => rooms.map((room) => `${wing}/${room}`))

/** The rooms of channels, in the same way: each may import those before it. */
const channelRooms = ['row', 'request', 'index', 'select', 'edit', 'health']

/** The rooms of the relay. Files that are listed are rooms too. */
const relayRooms = [
  'gateway-parts', 'http', 'upstream', 'conversations', 'admission', 'try-channels', 'response', 'charge', 'stored-responses',
  'replies', 'attempt', 'background', 'realtime', 'count', 'models',
] // biome-ignore format: one line reads as the list that it is

/** The rooms of the console's parts; `texts` and `shared` are files, for all of them. */
const uiRooms = [
  'texts',
  'shared',
  'dialog',
  'view',
  'page',
  'text',
  'form',
  'list',
  'chart',
  'account',
  'budgets',
  'recording',
  'shell',
]

/** Other files directly in such a folder connect its rooms: they may import every room, and no room imports them. */
const roomsWithin: Readonly<Record<string, readonly string[]>> = {
  'src/server/gateway/channels': channelRooms,
  'src/server/gateway/relay': relayRooms,
  'src/web/ui': uiRooms,
}

/** Rooms that must stay pure: they may import only the contract, themselves and these. */
const pure: Readonly<Record<string, readonly string[]>> = {
  'gateway/protocols': ['base/lib'],
  'gateway/providers': ['base/lib', 'gateway/protocols'],
}

interface SourceFile {
  /** From the root of the repository, with forward slashes: `src/server/base/lib/time/clock.ts`. */
  readonly path: string
  readonly text: string
}

/** Every import that violates the order, and every circular import, as sentences. Test files and their imports are not checked. */
export function violations(files: readonly SourceFile[]): string[] {
  const sources = files.filter(({ path }) => !/\.test\.tsx?$/.test(path))
  const imports = sources.flatMap(({ path, text }) =>
    importsOf(text).map((target) => ({ from: path, to: resolve(path, target) })),
  )

  const crossed = imports.flatMap(({ from, to }) => {
    const reason = wallBetween(from, to)
    return reason === undefined ? [] : [`${from} imports ${to}: ${reason}`]
  })
  return [...crossed, ...circles(imports)]
}

/** The files that a file imports, re-exports or loads dynamically, including types. */
export function importsOf(text: string): string[] {
  const statement = /^\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?\s*['"]([^'"]+)['"]/gm
  const later = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g
  return [statement, later].flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ''))
}

function resolve(from: string, target: string): string {
  return target.startsWith('.') ? posix.join(posix.dirname(from), target) : target
}

function wallBetween(from: string, to: string): string | undefined {
  const side = from.split('/')[1]
  if (side === 'contract') return wallOfContract(to)
  if (side === 'server') return wallOfServer(from, to)
  if (side === 'web') return wallOfWeb(from, to)
  return undefined
}

function wallOfContract(to: string): string | undefined {
  return to.startsWith('src/contract/') || to === 'zod' ? undefined : 'the contract imports zod and itself, nothing else'
}

function wallOfServer(from: string, to: string): string | undefined {
  if (!to.startsWith('src/') || to.startsWith('src/contract/')) return undefined
  if (to.startsWith('src/web/')) return 'the server imports nothing of the console'

  const here = serverRoom(from)
  const there = serverRoom(to)
  if (!order.includes(here)) return `the room ${here} is not on the list`
  if (!order.includes(there)) return `the room ${there} is not on the list`
  if (here === there) return wallWithin(`src/server/${here}`, from, to)
  if (pure[here] && !pure[here].includes(there)) return `${here} may import only the contract, ${pure[here].join(' and ')}`
  if (here === 'console/calls' && there === 'gateway/relay' && !/\/relay\/(models\/probe|http\/endpoints)\.ts$/.test(to))
    return 'the console may import only models/probe.ts and http/endpoints.ts of the relay'
  return order.indexOf(there) < order.indexOf(here) ? undefined : `${there} does not come before ${here} in the list`
}

function wallWithin(folder: string, from: string, to: string): string | undefined {
  const rooms = roomsWithin[folder]
  if (!rooms) return undefined
  const [name, here, there] = [posix.basename(folder), roomIn(folder, from), roomIn(folder, to)]
  const isAtTop = (room: string) => !rooms.includes(room)
  if (isAtTop(here) && posix.dirname(from) !== folder) return `the room ${here} is not on the list of the ${name}`
  if (isAtTop(here) || here === there) return undefined
  if (isAtTop(there)) return 'a room imports nothing that connects rooms'
  return rooms.indexOf(there) < rooms.indexOf(here) ? undefined : `${there} does not come before ${here} in the ${name}`
}

/** The folder inside of a folder, or the name of a file directly in it. */
function roomIn(folder: string, path: string): string {
  return (path.slice(folder.length + 1).split('/')[0] ?? '').replace(/\..*$/, '')
}

/** The wing and the room of a file of the server. */
function serverRoom(path: string): string {
  return path.split('/').slice(2, 4).join('/').replace(/\.ts$/, '')
}

/**
 * In the console: lib, then ui, then the screens; a screen must not import another. The files directly in `src/web` may import
 * everything.
 */
function wallOfWeb(from: string, to: string): string | undefined {
  if (to.startsWith('src/server/')) return 'the console imports nothing of the server'
  if (to.startsWith('node:')) return 'the console runs in a browser'
  if (!to.startsWith('src/web/')) return undefined

  const [, , here = '', screen = ''] = from.split('/')
  const [, , there = '', other = ''] = to.split('/')
  if (here === 'lib' && there !== 'lib') return 'web/lib imports only itself and the contract'
  if (here === 'ui' && there === 'screens') return 'web/ui imports no screen'
  if (here === 'ui' && there === 'ui') return wallWithin('src/web/ui', from, to)
  if (here === 'screens' && there === 'screens' && screen !== other) return 'a screen imports no other screen'
  return undefined
}

/** Circular imports, each reported once, beginning with its alphabetically first path. */
function circles(imports: readonly { from: string; to: string }[]): string[] {
  const edges = new Map<string, string[]>()
  for (const { from, to } of imports) edges.set(from, [...(edges.get(from) ?? []), to])
  const found = new Set<string>()
  const finished = new Set<string>()

  const walk = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) found.add(named(trail.slice(at)))
    if (at >= 0 || finished.has(path)) return
    for (const next of edges.get(path) ?? []) walk(next, [...trail, path])
    finished.add(path)
  }
  for (const path of edges.keys()) walk(path, [])
  return [...found].map((circle) => `files import each other in a circle: ${circle}`)
}

function named(circle: readonly string[]): string {
  const first = circle.indexOf([...circle].sort()[0] ?? '')
  return [...circle.slice(first), ...circle.slice(0, first), circle[first]].join(' → ')
}
