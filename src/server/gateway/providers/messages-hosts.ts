import { rememberByName } from '../../base/lib/collections/remember-by-name.ts'
import { rulesOf } from '../protocols/anthropic-messages/models.ts'
import { newerVersion, olderVersion } from '../protocols/anthropic-messages/versions.ts'
import type { Upstream } from './provider.ts'

/**
 * The hosts that speak Messages, and what each of them accepts. Whatever a host refuses is removed from every request to it, native
 * or translated, and listed in the receipt (`messages-body.ts`); docs/reference/hosts-and-members.md shows the same table. Sources:
 * the vendors' interface references and SDKs, their servers' error messages in reports of users, protocols notes 1.12, 2.4 to 2.7;
 * read 2026-11.
 */
export interface MessagesHost {
  readonly name: string
  /** The channel types whose vendor it is. */
  readonly types: readonly number[]
  /** The names of its servers, for channels of other types. */
  readonly address?: RegExp
  /** Top-level members of the request. */
  readonly members: Selection
  /** Members of `metadata`. */
  readonly metadata: Selection
  /** Members of `cache_control`, besides `type`. For `ttl`, see also `marksFor`. */
  readonly cacheMarks: Selection
  /** Models that refuse `ttl` although the host accepts it. */
  readonly refusesTtl?: (model: string) => boolean
  /** Members of custom tools that need a beta at this host, with that beta; undefined where no beta makes them valid. */
  readonly toolMembers: Readonly<Record<string, string | undefined>>
  readonly betas: Selection
  /** The host's own names of betas. */
  readonly renamedBetas?: ReadonlyMap<string, string>
  /**
   * The versions of the interface, first the one of requests that are written here, and whether a request names its version (and betas)
   * in headers or in the body.
   */
  readonly versions: readonly [string, ...string[]]
  /** Models that it serves under its first version alone. */
  readonly refusesNewer?: (model: string) => boolean
  readonly versionIn: 'header' | 'body'
  /** Whether the line of Claude Code about its billing stays in the system prompt. */
  readonly takesBillingLine: boolean
}

/** Names that are accepted: all, only these, or all but these. */
type Selection = 'all' | { readonly only: readonly string[] } | { readonly without: readonly string[] }

/**
 * The version under which a host gets a request: the caller's where the host has it, else the first one of the host. A version in a
 * header that nobody has published is the caller's mistake, which the host tells. `model` is only needed where the body has the version.
 */
export function versionAt({ versions, versionIn, refusesNewer }: MessagesHost, asked = '', model = ''): string {
  const [first, ...newer] = versions
  if (newer.includes(asked)) return refusesNewer?.(model) ? first : asked
  return versionIn === 'body' || asked === '' || asked === newerVersion ? first : asked
}

export function takes(selection: Selection, name: string): boolean {
  if (selection === 'all') return true
  return 'only' in selection ? selection.only.includes(name) : !selection.without.includes(name)
}

/** The members that every host has. */
const common = [
  'model',
  'messages',
  'system',
  'max_tokens',
  'metadata',
  'stop_sequences',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
]

/** Members that mean Anthropic's own platform: its accounts, tiers, regions, stored objects and servers. */
const ofPlatform = [
  'billing_policy',
  'cache_control',
  'compaction',
  'container',
  'context_management',
  'diagnostics',
  'fallback_credit_token',
  'fallbacks',
  'inference_geo',
  'mcp_servers',
  'service_tier',
  'speed',
  'thread',
  'user_profile_id',
]

/** Betas of Claude models, which both clouds know. */
const modelBetas = [
  'compact-2026-01-12',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dangerous-tool-use-2026-09-03',
  'interleaved-thinking-2025-05-14',
  'thinking-binding-controls-2026-08-01',
  'thinking-display-updates-2026-08-18',
  'tool-search-tool-2025-10-19',
]

const cloudBetas: ReadonlyMap<string, string> = new Map([['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19']])

const invokeBetas = [
  ...modelBetas,
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'mid-conversation-output-config-2026-07-01',
  'mid-conversation-tool-changes-2026-07-01',
  'output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19',
  'tool-examples-2025-10-29',
]

const cloudTools = {
  allowed_callers: undefined,
  defer_loading: 'tool-search-tool-2025-10-19',
  eager_input_streaming: 'fine-grained-tool-streaming-2025-05-14',
  input_examples: 'tool-examples-2025-10-29',
}

/** What a host accepts that passes everything on. */
const open = {
  members: 'all',
  metadata: 'all',
  cacheMarks: 'all',
  toolMembers: {},
  betas: 'all',
  versions: [olderVersion, newerVersion],
  versionIn: 'header',
  takesBillingLine: false,
} as const satisfies Omit<MessagesHost, 'name' | 'types'>

const bedrock: MessagesHost = {
  ...open,
  name: 'Bedrock, InvokeModel',
  types: [33],
  members: { only: [...common, 'context_management', 'user_profile_id', 'anthropic_version', 'anthropic_beta'] },
  metadata: { only: ['user_id'] },
  cacheMarks: { only: ['ttl'] },
  refusesTtl: isBefore45,
  toolMembers: cloudTools,
  betas: { only: invokeBetas },
  renamedBetas: cloudBetas,
  versions: ['bedrock-2023-05-31', newerVersion],
  versionIn: 'body',
}

/** Other vendors, whose models have nothing of Anthropic's platform. They ignore the betas. */
const vendor = {
  ...open,
  members: { without: ofPlatform },
  cacheMarks: { without: ['scope'] },
  versions: [olderVersion],
} as const satisfies Omit<MessagesHost, 'name' | 'types'>

/** A gateway or a server that an operator runs: it may forward to any of the others. */
const unknownHost: MessagesHost = { ...open, name: 'Unknown', types: [] }

/** The address decides before the type, unless the type has a protocol of its own around Messages. */
export const messagesHosts: readonly MessagesHost[] = [
  {
    ...open,
    name: 'Anthropic',
    types: [],
    address: /(^|\.)anthropic\.com$|^gateway\.ai\.cloudflare\.com$|^aws-external-anthropic\.[\w-]+\.api\.aws$/,
    takesBillingLine: true,
  },
  { ...bedrock, refusesNewer: (model) => !rulesOf(model).takesDatedVersion },
  {
    ...bedrock,
    name: 'Bedrock, Messages endpoint',
    types: [],
    address: /^bedrock-(mantle|runtime)\.[\w-]+\.(api\.aws|amazonaws\.com(\.cn)?)$/,
    betas: {
      only: [
        ...invokeBetas,
        'claude-code-20250219',
        'per-turn-control-2026-07-01',
        'structured-outputs-2025-11-13',
        'web-search-2025-03-05',
      ],
    },
    versions: [olderVersion, newerVersion],
    versionIn: 'header',
  },
  {
    ...open,
    name: 'Vertex AI',
    types: [41],
    address: /(^|-|\.)aiplatform\.([a-z]+\.rep\.)?googleapis\.com$/,
    members: { only: [...common, 'compaction', 'context_management', 'anthropic_version', 'anthropic_beta'] },
    cacheMarks: { only: ['ttl'] },
    refusesTtl: isBefore45,
    toolMembers: cloudTools,
    betas: { only: [...modelBetas, 'compact-2026-09-04', 'per-turn-control-2026-07-01', 'web-search-2025-03-05'] },
    renamedBetas: cloudBetas,
    versions: ['vertex-2023-10-16', newerVersion],
    versionIn: 'body',
  },
  {
    ...open,
    name: 'Microsoft Foundry',
    types: [],
    address: /\.services\.ai\.azure\.com$/,
    members: { without: ['billing_policy', 'compaction', 'fallback_credit_token', 'inference_geo', 'speed', 'thread'] },
    betas: {
      without: [
        'advisor-tool-2026-03-01',
        'compact-2026-01-12',
        'compact-2026-09-04',
        'fast-mode-2026-02-01',
        'output-128k-2025-02-19',
        'thinking-binding-controls-2026-08-01',
      ],
    },
  },
  { ...vendor, name: 'DeepSeek', types: [43], address: /^api\.deepseek\.com$/ },
  { ...vendor, name: 'Kimi', types: [25], address: /^api\.(moonshot\.(cn|ai)|kimi\.com)$/ },
  { ...vendor, name: 'GLM', types: [16, 26], address: /^(open\.bigmodel\.cn|api\.z\.ai)$/ },
  { ...vendor, name: 'MiniMax', types: [35], address: /^api\.(minimaxi?\.(com|chat)|minimax\.io)$/ },
  { ...vendor, name: 'Qwen', types: [17], address: /^dashscope[\w-]*\.aliyuncs\.com$/ },
  { ...vendor, name: 'Grok', types: [48], address: /^api\.x\.ai$/ },
  {
    ...vendor,
    name: 'OpenRouter',
    types: [20],
    address: /^openrouter\.ai$/,
    // It serves Claude itself, and has tiers of its own.
    members: {
      without: ofPlatform.filter((name) => !['cache_control', 'context_management', 'service_tier', 'speed'].includes(name)),
    },
    versions: [olderVersion, newerVersion],
  },
  unknownHost,
]

/** The host of a channel that speaks Messages. */
export function messagesHostOf({ type, baseUrl }: Pick<Upstream, 'type' | 'baseUrl'>): MessagesHost {
  const ofType = messagesHosts.find(({ types }) => types.includes(type))
  if (ofType?.versionIn === 'body') return ofType
  const named = hostAt(serverName(baseUrl))
  return named === unknownHost && ofType ? ofType : named
}

const hostAt = rememberByName((name): MessagesHost => messagesHosts.find(({ address }) => address?.test(name)) ?? unknownHost)

/** The name of the server in an address; '' for a channel without one. */
function serverName(address: string): string {
  return /^[a-z]+:\/\/(?:[^/@]*@)?([^/:?#]*)/i.exec(address)?.[1]?.toLowerCase() ?? ''
}

/** Claude before 4.5 has caches of five minutes only, at the clouds; there, `ttl` is no member. */
function isBefore45(model: string): boolean {
  const name = model.toLowerCase().replace(/[.@]/g, '-')
  return /claude-(instant|v?2|3)|claude-(opus|sonnet)-4(?!-[5-9](?!\d))/.test(name)
}

/** Betas that a host does not have, and whose removal takes nothing from the request: generally available, or names of clients. */
export const silentBetas: ReadonlySet<string> = new Set([
  'cache-diagnosis-2026-04-07',
  'ce-user-management-2026-07-13',
  'claude-code-20250219',
  'effort-2025-11-24',
  'extended-cache-ttl-2025-04-11',
  'fine-grained-tool-streaming-2025-05-14',
  'message-batches-2024-09-24',
  'oauth-2025-04-20',
  'pdfs-2024-09-25',
  'prompt-caching-2024-07-31',
  'prompt-caching-scope-2026-01-05',
  'structured-outputs-2025-11-13',
  'token-counting-2024-11-01',
  'token-efficient-tools-2025-02-19',
])
