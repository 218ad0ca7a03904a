import { isIP } from 'node:net'
import { parseUrl } from '../net/parse-url.ts'
import { redact } from './logger.ts'

/**
 * The text of an upstream with `…` in place of what belongs to the operator: addresses, host names, mail addresses, ids of accounts and
 * their resources, keys, and paths of files. It is judged word by word; what only might be such a detail is hidden too, because the
 * operator has the whole text and the caller can act without it. `sent` is the caller's request: it may be told its own addresses of
 * the public internet and its own ids. Linear in the length of the text.
 */
export function withoutOperatorDetails(text: string, sent?: Buffer): string {
  const traceAt = text.search(/Traceback \(most recent call last\)/)
  const told = redact(traceAt < 0 ? text : text.slice(0, traceAt))
  const before: string[] = []
  return told.replace(words, (word, at: number) => {
    const start = /^(?:\\[nrt"]|[@#*.:])+/.exec(word)?.[0] ?? ''
    const end = endOf(word.slice(start.length))
    const core = word.slice(start.length, word.length - end.length)
    const isQuoted = /["'`“‘「]/.test(told.charAt(at - 1))
    const isSent = () => sent?.includes(core) === true
    const isHidden = core !== '' && isDetail(core, { before, isQuoted, isSent })
    if (core !== '') before.unshift(core.toLowerCase())
    before.length = Math.min(before.length, 3)
    return isHidden ? `${start}${hidden}${end}` : word
  })
}

const hidden = '…'

const words = /[^\s"'`“”‘’「」<>()[\]{},;|=]+/g

function endOf(word: string): string {
  let length = word.length
  while (length > 0 && /[.:!?*\\]/.test(word.charAt(length - 1))) length--
  return word.slice(length)
}

interface Place {
  /** The words before, the last one first. */
  readonly before: readonly string[]
  readonly isQuoted: boolean
  readonly isSent: () => boolean
}

function isDetail(word: string, place: Place): boolean {
  if (schemed.test(word)) return !isDocumentation(word) && !(isPublicUrl(word) && place.isSent())
  if (isMailAddress(word) || isKey(word) || word.startsWith('arn:') || resourcePath.test(word) || isFilePath(word)) return true
  if (isHost(word) || accountId.test(word) || isNamed(word, place)) return true
  return isOpaqueId(word) && !place.isSent()
}

const schemed = /^[a-z][a-z0-9+.-]{1,20}:\/\//i

/** The public documentation of vendors, and the names of types and services in errors of Google. */
const documentation: ReadonlySet<string> = new Set([
  ...['docs.anthropic.com', 'docs.claude.com', 'platform.claude.com', 'ai.google.dev', 'cloud.google.com', 'docs.mistral.ai'],
  ...['api-docs.deepseek.com', 'learn.microsoft.com', 'aka.ms', 'go.microsoft.com', 'docs.aws.amazon.com', 'docs.x.ai'],
  ...[
    'docs.cohere.com',
    'platform.moonshot.cn',
    'docs.bigmodel.cn',
    'help.aliyun.com',
    'www.alibabacloud.com',
    'json-schema.org',
  ],
  ...[
    'type.googleapis.com',
    'generativelanguage.googleapis.com',
    'aiplatform.googleapis.com',
    'docs.vllm.ai',
    'errors.pydantic.dev',
  ],
])

/** A page of the documentation. Of platform.openai.com only /docs: other pages are those of an account. */
function isDocumentation(address: string): boolean {
  const url = parseUrl(schemed.test(address) ? address : `https://${address}`)
  if (url?.username !== '' || url.search !== '' || url.port !== '') return false
  return documentation.has(url.hostname) || (url.hostname === 'platform.openai.com' && url.pathname.startsWith('/docs'))
}

function isPublicUrl(word: string): boolean {
  const url = parseUrl(word)
  return url !== undefined && isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 && url.hostname.includes('.')
}

/** Also user and host of a shell. `@` also stands before the version of a model. */
function isMailAddress(word: string): boolean {
  const at = word.lastIndexOf('@')
  return at > 0 && /^[a-z]/i.test(word.slice(at + 1)) && !/^(?:default|latest)\b/.test(word.slice(at + 1))
}

const keyShape = /^(?:sk[-_]|AIza|AKIA|ASIA|gsk_|xai-|hf_|ghp_|github_pat_|r8_|pplx-|nvapi-|eyJ|Bearer)[\w.~+/-]{6,}/
function isKey(word: string): boolean {
  return keyShape.test(word) || word.includes('***') || word.includes('•••')
}

/** Names of resources of Google, Azure and others. */
const resourcePath =
  /(?:^|\/)(?:projects|subscriptions|resourcegroups|organizations|accounts|tenants|deployments|endpoints|workspaces|reservations|folders)\/[^/]/i

const fileRoots =
  /^(?:~|\/(?:home|root|usr|opt|var|etc|srv|app|tmp|mnt|data|workspace|users|private|proc|run|lib|nix|build|code))\//i
const sourceFile =
  /[/\\][\w.-]{1,100}\.(?:py|js|mjs|cjs|ts|go|rs|java|kt|rb|php|cs|c|cc|cpp|h|so|gguf|safetensors)(?::\d{1,7}){0,2}$/i
function isFilePath(word: string): boolean {
  return fileRoots.test(word) || /^(?:[a-z]:\\|\\\\)/i.test(word) || sourceFile.test(word) || word.startsWith('file:')
}

/** An address or a host name, with or without its port and a path. */
function isHost(word: string): boolean {
  if (isIP(word.replace(/%.{1,40}$/, '')) !== 0) return true
  const slashAt = word.indexOf('/')
  const authority = slashAt < 0 ? word : word.slice(0, slashAt)
  const [name = '', port = '', ...more] = authority.split(':')
  if (more.length > 0 || (port !== '' && !/^\d{2,5}$/.test(port))) return false
  if (isIP(name) !== 0 || name.toLowerCase() === 'localhost') return true
  const labels = name.split('.')
  return labels.length === 1 ? isLocalName(name, port) : isDottedHost(labels, port !== '') && !isDocumentation(word)
}

/** A name without dots is one of a host only if a port follows: it must not be a member of a request with its value. */
function isLocalName(name: string, port: string): boolean {
  if (port === '' || !/^[a-z][\w-]{0,62}$/i.test(name)) return false
  return (/[\d_-]/.test(name) || port.length >= 4) && !/(?:tokens|length|size|count|limit|code|status|line)$/i.test(name)
}

function isDottedHost(labels: readonly string[], hasPort: boolean): boolean {
  const last = labels.at(-1)?.toLowerCase() ?? ''
  if (!labels.every((label) => /^[a-z0-9_](?:[\w-]{0,62})$/i.test(label)) || !/^[a-z]{2,24}$/.test(last)) return false
  if (innerDomains.has(last) || hasPort) return true
  // A path to a member of the request, such as `messages.0.content`.
  if (labels.some((label) => label.includes('_') || /^\d+$/.test(label)) || requestMembers.has(labels[0] ?? '')) return false
  if (publicDomains.has(last)) return true
  return (last.length === 2 && (labels.length > 2 || /[\d-]/.test(labels.join('')))) || labels.length > 3
}

const innerDomains: ReadonlySet<string> = new Set(
  'internal local lan corp intra intranet home localdomain svc cluster private arpa test'.split(' '),
)
const publicDomains: ReadonlySet<string> = new Set(
  'com net org io ai dev cloud cn co app xyz tech info biz site online edu gov run host systems services network ltd pro top vip me us'.split(
    ' ',
  ),
)
const requestMembers: ReadonlySet<string> = new Set(
  'messages tools input contents content system metadata model parameters properties reasoning text thinking audio image body response generationConfig safetySettings toolConfig'.split(
    ' ',
  ),
)

/** Ids by which vendors name accounts, projects and requests. */
const accountId =
  /^(?:org|proj|project|user|acct|acc|req|wrkspc|ws|tenant|cus|ep|svcacct|orgs)[-_](?=[\w-]{0,80}(?:\d|[a-z][A-Z]|[A-Z][a-z]))[\w-]{4,}$/

const accountWords =
  /^(?:orgs?|organi[sz]ations?|projects?|accounts?|deployments?|resources?|tenants?|subscriptions?|workspaces?|hosts?|hostname|servers?|nodes?|pods?|containers?|clusters?|workers?|machines?|buckets?|consumers?|requestid|request|instances?|endpoints?|project_number|organization_id|project_id|account_id|tenant_id|deployment_id|request_id|user_id)$/
const between = /^(?:id|ids|name|number|named|is|called|no|#)$/

/** A name behind a word such as "organization" or "deployment": a quoted one, or one that is no plain word. */
function isNamed(word: string, { before, isQuoted }: Place): boolean {
  const colonAt = word.indexOf(':')
  if (colonAt > 0 && colonAt < word.length - 1 && accountWords.test(word.slice(0, colonAt).toLowerCase())) return true
  if (/^\d{12}$/.test(word)) return true
  const [last = '', earlier = ''] = before
  const isBehind = accountWords.test(last) || (between.test(last) && accountWords.test(earlier))
  return isBehind && !between.test(word.toLowerCase()) && (isQuoted || /[\d_-]/.test(word)) && !/^\d{1,4}$/.test(word)
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** Ids of a conversation, by which the caller finds what was refused. */
const ofConversation =
  /^(?:resp|msg|rs|fc|ctc|call|toolu|srvtoolu|file|item|chatcmpl|conv|cmpl|batch|vs|ig|ws|mcp|fun|functions?)[-_.]/

function isOpaqueId(word: string): boolean {
  if (uuid.test(word)) return true
  if (ofConversation.test(word)) return false
  return word.split(/[-_.:/]/).some((part) => part.length >= 24 && /\d/.test(part) && /[a-z]/i.test(part))
}
