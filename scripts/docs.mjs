// `npm run docs`: writes docs/reference, docs/clients.md and .env.example from the declarations in the built server. With --check it writes nothing and fails when a file
// is out of date.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buildWhenStale } from './build.mjs'
import { dialects, repeats, clients as retryingClients, toldFailures } from './lib/client-retries.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { root } from './lib/process.mjs'

await installWhenNeeded()
await buildWhenStale({ only: ['server'] })

const { envSchema, readEnv } = await import('../dist/server/base/env.js')
const { clientDialects, clientKinds, clients } = await import('../dist/contract/clients/index.js')
const { errors } = await import('../dist/contract/errors.js')
const { sections } = await import('../dist/contract/options/index.js')
const { defaults: optionDefaults } = await import('../dist/contract/options/defaults.js')
const { encodeOption } = await import('../dist/contract/options/codec.js')
const { allRoutes } = await import('../dist/contract/routes/index.js')
const { families } = await import('../dist/server/gateway/protocols/model-families.js')
const { providers } = await import('../dist/server/gateway/providers/index.js')
const { messagesHosts } = await import('../dist/server/gateway/providers/messages-hosts.js')

const retryModules = [
  'base/lib/failure',
  ...['error-body', 'error-dialect', 'upstream-failures'].map((name) => `gateway/protocols/${name}`),
]
const toldFailuresOf = await Promise.all(retryModules.map((name) => import(`../dist/server/${name}.js`)))

const files = {
  'docs/clients.md': clientPages(),
  'docs/reference/environment.md': environment(),
  'docs/reference/options.md': options(),
  'docs/reference/channel-types.md': channelTypes(),
  'docs/reference/errors.md': errorCodes(),
  'docs/reference/routes.md': routes(),
  'docs/reference/hosts-and-members.md': hostsAndMembers(),
  'docs/reference/retry-words.md': retryWords(),
  '.env.example': envExample(),
}

const stale = []
for (const [name, text] of Object.entries(files)) {
  const path = join(root, name)
  if ((await readFile(path, 'utf8').catch(() => '')) === text) continue
  stale.push(name)
  if (process.argv.includes('--check')) continue
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`Not what the declarations say: ${stale.join(', ')}. Run: npm run docs`)
  process.exitCode = 1
} else console.log(stale.length === 0 ? 'Generated documents are up to date.' : `Wrote ${stale.join(', ')}.`)

function clientPages() {
  const setup = { address: 'https://sluice.example', key: 'sk-…', model: 'MODEL' }
  const kinds = Object.entries(clientKinds).map(([kind, label]) => {
    const ofKind = clients.filter((client) => client.kind === kind)
    return `## ${label.en}\n\n${ofKind.map((client) => clientPart(client, setup)).join('\n')}`
  })
  return page(
    'Clients',
    'How programs and libraries are set up. The console has the same under Connect, with the address, key and model of a site filled in.',
    kinds.join('\n'),
  )
}

function clientPart({ name, dialect, documentation, tried, extraModels = [], hint, steps }, setup) {
  const state = tried
    ? `Tested with version ${tried.version} on ${tried.date}.`
    : 'From the documentation of the client; not run yet.'
  const parts = steps(setup).map((step) => {
    if ('text' in step) return `${step.place.en}:\n\n\`\`\`${step.language}\n${step.text}\`\`\`\n`
    const rows = step.fields.map(({ label, value }) => [label, code(value)])
    return `${step.place.en}:\n\n${table(['Field', 'Value'], rows)}`
  })
  const extra = extraModels.map(({ model, use }) => `\`${model}\` (${use.en})`).join(', ')
  return [
    `### ${name}\n`,
    `Calls ${clientDialects[dialect].name}. ${state} [Documentation](${documentation})\n`,
    ...parts,
    ...(hint ? [`${hint.en}\n`] : []),
    ...(extra ? [`It also asks for ${extra}; map the names on a channel that lacks them.\n`] : []),
  ].join('\n')
}

function environment() {
  const defaults = readEnv({})
  const lines = Object.entries(envSchema.shape).map(([name, schema]) => {
    const text = String(defaults[name])
    return `${code(name)} (${text === '' ? 'empty' : code(text)}): ${schema.description}`
  })
  return page(
    'Environment',
    'Read once at start, before the database opens, from the environment, and from the file `.env` in the working directory for what is not set there ([.env.example](../../.env.example)). All are optional; an empty value counts as absent. The defaults are in parentheses.',
    list(lines),
  )
}

/** Every setting commented out, with its default and its purpose in front. */
function envExample() {
  const defaults = readEnv({})
  const parts = Object.entries(envSchema.shape).map(
    ([name, schema]) =>
      `${wrapped(schema.description, 100)
        .map((line) => `# ${line}\n`)
        .join('')}#${name}=${defaults[name]}\n`,
  )
  return `# Written by \`npm run docs\` from the declarations. Copy this file to .env, and take away the # before what you change: the server and its
# commands read .env in the folder in which they start. Settings of the environment go before.

${parts.join('\n')}`
}

function wrapped(text, width) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if (longer.length > width) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

function options() {
  const parts = sections.map(({ place, options }) => {
    const lines = Object.entries(options).map(([key, option]) => {
      const star = (option.writer ?? place.writer) === 'root' ? '\\*' : ''
      const unit = option.unit ? ` (${severalOf(option.unit.en)})` : ''
      const purpose = [option.label.en, option.help?.en].filter(Boolean).join('. ') + unit
      return `${code(key)}${star} (${option.secret ? 'secret' : defaultOf(key, option)}): ${purpose}`
    })
    return `## ${place.label.en}\n\nTab \`${place.tab}\`.${place.help ? ` ${place.help.en}` : ''}\n\n${list(lines)}`
  })
  return page(
    'Options',
    'Settings of the running site, changed in the console or with `PUT /api/option/`, with their defaults in parentheses. Only super admins change those with an asterisk. Secrets are never returned.',
    parts.join('\n'),
  )
}

function defaultOf(key, option) {
  const text = encodeOption(option, optionDefaults[key])
  if (text === '') return 'empty'
  return text.length <= 60 && !text.includes('\n')
    ? code(text)
    : `${Object.keys(optionDefaults[key]).length || text.length} built-in entries`
}

function channelTypes() {
  const rows = providers.map((provider) => [
    provider.id,
    provider.docs === '' ? provider.label.en : `[${provider.label.en}](${provider.docs})`,
    code(provider.key),
    Object.keys(provider.speaks).map(code).join(' ') || 'tasks',
    code(provider.baseUrl),
  ])
  return page(
    'Channel types',
    'Kinds of upstream that a channel can be, and the wire formats that each speaks.',
    table(['Number', 'Name', 'Key', 'Speaks', 'Address'], rows),
  )
}

function hostsAndMembers() {
  const hosts = messagesHosts.map((host) => {
    const tools = Object.entries(host.toolMembers).map(
      ([member, beta]) => `${code(member)} ${beta ? `only with ${code(beta)}` : 'never'}`,
    )
    const types = host.types.map((id) => `${id} ${code(providers.find((provider) => provider.id === id).key)}`)
    return [
      `### ${host.name}\n`,
      list([
        `Channels: ${[...(types.length > 0 ? [`type ${types.join(', ')}`] : []), ...(host.address ? [`addresses ${code(String(host.address))}`] : [])].join('; ') || 'all others'}`,
        `Members: ${selection(host.members)}`,
        ...(host.metadata === 'all' ? [] : [`Members of ${code('metadata')}: ${selection(host.metadata)}`]),
        `Members of ${code('cache_control')} besides ${code('type')}: ${selection(host.cacheMarks)}${host.refusesTtl ? `; no ${code('ttl')} for Claude before 4.5` : ''}`,
        ...(tools.length > 0 ? [`Members of tools: ${tools.join(', ')}; all others`] : []),
        `Betas: ${selection(host.betas)}`,
        ...Array.from(host.renamedBetas ?? [], ([beta, name]) => `Beta ${code(beta)} is sent as ${code(name)}`),
        `Versions: ${host.versions.map(code).join(', ')}, in the ${host.versionIn}`,
        `Claude Code's line about its billing: ${host.takesBillingLine ? 'stays' : 'is removed'}`,
      ]),
    ].join('\n')
  })
  const rows = families.flatMap(({ name, model, rules }) =>
    Object.entries(rules).map(([rule, quirks]) => [name, code(String(model)), code(rule), code(JSON.stringify(quirks))]),
  )
  return page(
    'Hosts and members',
    'What hosts and models require of a request beyond their protocol. What is removed is in the receipt (`x-sluice-dropped` and the log row), and refused for a strict token; in a request that passes through, all other bytes stay. Betas that are generally available, and the line about the billing, are removed without a receipt.',
    [
      '## Hosts that speak Messages\n',
      ...hosts,
      '## Families of models\n',
      'These rules hold wherever a model is served and by its name at the upstream, for requests in Chat from callers of every protocol. A channel switches a rule off, or on for all of its models, with `model_rules` in its settings.\n',
      table(['Family', 'Models', 'Rule', 'Effect'], rows),
    ].join('\n'),
  )
}

function selection(names) {
  if (names === 'all') return 'all'
  return 'only' in names ? `only ${names.only.map(code).join(', ')}` : `all but ${names.without.map(code).join(', ')}`
}

/** Replaces words that depend on a number by their plural: `{count|key|keys}` becomes keys. */
function severalOf(text) {
  return text.replace(/\{\w+\|[^|{}]*\|([^|{}]*)\}/g, '$1')
}

function errorCodes() {
  const lines = Object.entries(errors).map(([name, kind]) => `${code(name)} (${kind.status}): ${severalOf(kind.text.en)}`)
  const intro =
    'The codes of errors with their statuses. The console answers refusals with HTTP 200, `success: false` and this code, and keeps the status of 401, 405, 413, 429 and 5xx. The relay answers with the status, in the dialect of the caller.'
  return page('Errors', intro, list(lines))
}

/** Every kind of failure in every dialect, and what clients do after it. */
function retryWords() {
  const failures = toldFailures(Object.assign({}, ...toldFailuresOf))
  const dialectNames = { openai: 'Chat, Responses', anthropic: 'Messages', gemini: 'Gemini' }
  const whole = (told) => told.filter(({ place }) => place === 'whole')
  const ofDialect = ({ dialect, status, type, code: name }) =>
    `${status} ${code(type)}${name === '' || dialect !== 'openai' ? '' : ` ${code(name)}`}`
  const rows = failures.map(({ kind, isLasting, told }) => {
    const errors = dialects.map((dialect) => whole(told).find((error) => error.dialect === dialect))
    const wait = errors[0].headers['retry-after']
    const sentences = new Set(errors.map(({ message }) => message.replace(' (request id: ID)', '')))
    const header = isLasting ? '`x-should-retry: false`' : wait ? `\`retry-after: ${wait}\`` : ''
    return [kind, ...errors.map(ofDialect), header, [...sentences].join(' / ')]
  })
  const columns = ['Failure', ...dialects.map((dialect) => dialectNames[dialect]), 'Header', 'Sentence']
  const deviating = (client, isWanted) => {
    const those = failures.flatMap(({ kind, isLasting, told }) => {
      const places = told
        .filter(
          (error) => client.dialects.includes(error.dialect) && isLasting === isWanted && repeats(client, error) === isWanted,
        )
        .map(({ dialect, place }) => `${dialectNames[dialect]}${place === 'stream' ? ' in a stream' : ''}`)
      return places.length > 0 ? [`${kind} (${places.join('; ')})`] : []
    })
    return those.length > 0 ? those.join(', ') : 'nothing'
  }
  const ofClients = retryingClients.map((client) => {
    const { name, version, read, source } = client
    return `### ${name}\n\nVersion ${version}, read on ${read}: ${source}.\n\n- Repeats although it is of no use: ${deviating(client, true)}.\n- Gives up although repeating may help: ${deviating(client, false)}.\n`
  })
  const intro =
    'What callers are told when a call fails, in the words and members by which clients decide whether to repeat it. Types, codes and sentences are the same in the last event of a stream that has begun. A wait of more than two minutes is told in words. Every message ends in the id of the request, in whose digits some clients find a status.'
  return page('Retry words', intro, [table(columns, rows), `## Clients\n\n${ofClients.join('\n')}`].join('\n'))
}

function routes() {
  const callers = { public: 'Everybody', user: 'Users', admin: 'Admins', root: 'Super admins' }
  const parts = Object.entries(callers).map(([access, title]) => {
    const those = Object.entries(allRoutes).filter(([, route]) => route.access === access)
    return `## ${title}\n\n${list(those.map(([line, route]) => `${code(line)}: ${route.summary}`))}`
  })
  return page(
    'Console calls',
    'The calls of the console, by the least account that may make them. Their fields are in `dist/openapi.json` of a build, and in `/api/openapi.json` of a running server.',
    parts.join('\n'),
  )
}

function page(title, intro, body) {
  return `<!-- Written by \`npm run docs\` from the declarations. Change those, not this. -->\n\n# ${title}\n\n${intro}\n\n${body}`
}

function list(lines) {
  return `${lines.map((line) => `- ${line.replaceAll('\n', ' ')}`).join('\n')}\n`
}

function table(head, rows) {
  const line = (cells) =>
    `| ${cells
      .map((cell) =>
        String(cell ?? '')
          .replaceAll('|', '\\|')
          .replaceAll('\n', ' '),
      )
      .join(' | ')} |`
  return `${[line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')}\n`
}

function code(text) {
  return text === '' ? '' : `\`${text}\``
}
