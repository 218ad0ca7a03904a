/** A version of Spark: its path, its name in a request, and its features. Source: iFlytek's reference, read 2026-11. */
export interface SparkVersion {
  readonly path: string
  readonly domain: string
  readonly outputTokensMax: number
  /** Whether messages with the role system are supported. */
  readonly system: boolean
  readonly functions: boolean
}

const version = (path: string, domain: string, outputTokensMax: number, knows: '' | 'system' | 'functions'): SparkVersion => ({
  path,
  domain,
  outputTokensMax,
  system: knows !== '',
  functions: knows === 'functions',
})

const versions: readonly SparkVersion[] = [
  version('/v1.1/chat', 'lite', 4096, ''),
  version('/v2.1/chat', 'generalv2', 4096, ''),
  version('/v3.1/chat', 'generalv3', 8192, ''),
  version('/chat/pro-128k', 'pro-128k', 32_768, ''),
  version('/v3.5/chat', 'generalv3.5', 8192, 'functions'),
  version('/chat/max-32k', 'max-32k', 8192, 'functions'),
  version('/v4.0/chat', '4.0Ultra', 32_768, 'functions'),
  version('/v1/x1', 'x1', 32_768, 'system'),
]

/**
 * The version of a model name: a domain itself (`4.0Ultra`), a number after a dash (`SparkDesk-v3.5`), otherwise the channel's
 * version, or else the oldest.
 */
export function sparkVersionOf(model: string, fallback = ''): SparkVersion {
  const [first] = versions
  return (
    find(model) ?? find(model.slice(model.indexOf('-') + 1)) ?? find(fallback) ?? first ?? version('/v1.1/chat', 'lite', 4096, '')
  )
}

function find(name: string): SparkVersion | undefined {
  const wanted = name.trim().toLowerCase()
  return versions.find(
    ({ domain, path }) => domain.toLowerCase() === wanted || path === `/${wanted}/chat` || path === `/v1/${wanted}`,
  )
}
