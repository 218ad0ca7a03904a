/**
 * Forms of model names. A model has a plain name, and names with the path of a host, a region, a date, a version or `-latest`; vendors
 * answer one form by another. Pure.
 */

/** Whether `answered` names the model `sent`, in the same or another form. Two different dates are two models. */
export function isSameModel(sent: string, answered: string): boolean {
  if (sent === answered) return true
  const [one, other] = [partsOf(sent), partsOf(answered)]
  if (one.isLatest && !other.isLatest && isNewestOf(one.base, other.base)) return true
  if (one.base !== other.base) return aliases[one.base]?.includes(other.base) ?? false
  return meets(one.date, other.date) && meets(one.version, other.version)
}

/** Names of deployments, endpoints, assistants and routers: which model answers them is decided behind them. */
export function namesNoModel(name: string): boolean {
  const last = name.slice(name.lastIndexOf('/') + 1)
  return opaque.test(name) || chosenByHost.test(last) || `/${name}`.includes('/openrouter/')
}

/** ARNs of profiles, endpoints of Volcengine, assistants and deployments. */
const opaque =
  /^(?:arn:.*(?:application-inference-profile|provisioned-model|imported-model|prompt-router)\/|ep-|bot-|app-|asst_|tunedModels\/|projects\/.*\/endpoints\/|accounts\/.*\/deployments\/)/
/** Names with which hosts choose a model themselves. */
const chosenByHost = /^(?:auto|auto:.*|model-router|default)$/

/** Names that vendors answer by another plain name, with the source of each. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  // platform.openai.com/docs/models: names of previews and of the first models.
  'gpt-4-turbo-preview': ['gpt-4', 'gpt-4-0125-preview', 'gpt-4-1106-preview'],
  'text-embedding-ada-002': ['ada', 'text-embedding-ada'],
  // learn.microsoft.com/azure/ai-services/openai: Azure writes no full stop.
  'gpt-35-turbo': ['gpt-3-5-turbo'],
  'gpt-35-turbo-16k': ['gpt-3-5-turbo', 'gpt-3-5-turbo-16k'],
  'gpt-3-5-turbo': ['gpt-35-turbo'],
  // docs.anthropic.com/en/docs/about-claude/models: aliases without a date.
  'claude-opus-4-0': ['claude-opus-4'],
  'claude-sonnet-4-0': ['claude-sonnet-4'],
}

interface NameParts {
  readonly base: string
  /** '' without a date. */
  readonly date: string
  /** '' without a version. */
  readonly version: string
  readonly isLatest: boolean
}

const known = new Map<string, NameParts>()
/** Callers and upstreams can make up names. */
const knownMax = 5000

function partsOf(name: string): NameParts {
  const before = known.get(name)
  if (before) return before
  const parts = readParts(name)
  if (known.size >= knownMax) known.clear()
  known.set(name, parts)
  return parts
}

function readParts(name: string): NameParts {
  const withoutHost = name
    .toLowerCase()
    .slice(name.lastIndexOf('/') + 1)
    .replace(region, '')
    .replace(variant, '')
  const [, withoutVersion = withoutHost, version = ''] = versioned.exec(withoutHost) ?? []
  const [, withoutDate = withoutVersion, date = ''] = dated.exec(withoutVersion.replace('@', '-')) ?? []
  const isLatest = withoutDate.endsWith('-latest')
  const base = (isLatest ? withoutDate.slice(0, -'-latest'.length) : withoutDate).replace('@', '-').replaceAll('.', '-')
  return { base, date: date.replaceAll('-', ''), version, isLatest }
}

/** `us.anthropic.` and `anthropic.` of Bedrock. */
const region =
  /^(?:(?:us|eu|apac|ap|jp|au|ca|sa|global|us-gov)\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen|writer|minimax|moonshot|zai)\./
/** Variants that hosts write behind a colon; the sizes of Ollama, such as `:70b`, are other models. */
const variant = /:(?:free|nitro|floor|online|extended|exacto|beta|latest)$/
/** `-v1:0` of Bedrock, `-v2` of embeddings. */
const versioned = /^(.+)-(v\d+(?::\d+)?)$/
/** `20250929`, `2025-09-29`, `250928`, `0613`, `002`, `09-2025`, `05-06`, also after `@`. */
const dated = /^(.+?)-(20\d{6}|20\d\d-\d\d-\d\d|\d{6}|\d{4}|\d{3}|\d\d-20\d\d|\d\d-\d\d)$/

function meets(one: string, other: string): boolean {
  return one === '' || other === '' || one === other
}

/** `gemini-flash-latest` moves with the versions: its words in order, with versions and previews between them. */
function isNewestOf(latest: string, name: string): boolean {
  const words = latest.split('-')
  let next = 0
  for (const word of name.split('-')) {
    if (word === words[next]) next++
    else if (!/^[a-z]?\d|^(?:preview|exp|experimental)$/.test(word)) return false
  }
  return next === words.length
}
