import { z } from 'zod'
import type { Release } from '../../../contract/entities/system.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import { fail } from '../../base/lib/failure.ts'
import { callConfigured, type UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { CallFailure, type Reply } from '../../base/lib/net/upstream-http/exchange.ts'
import { releasesAddress } from '../../base/lib/process/version.ts'
import type { Core } from '../../base/options/core.ts'

type Parts = Pick<Core, 'options'> & { readonly upstream: UpstreamAgents; readonly version: string }

const timeoutMs = 10_000
const answerMaxBytes = 1024 * 1024
const notesLengthMax = 20_000

/** A code host's reply about a release; everything but the tag may be missing. */
const feed = z.object({
  tag_name: z.string().trim().min(1).max(100),
  name: z.string().nullish(),
  body: z.string().nullish(),
  html_url: z.string().nullish(),
  published_at: z.string().nullish(),
})

/** The address of the release feed: the super admin's, or else that of this version; empty where there is neither. */
export function releaseFeed({ options }: Pick<Core, 'options'>): string {
  return options.current.ReleaseFeedUrl || releasesAddress()
}

/** Requests the latest release from the feed. No request is sent while there is none. Throws `update_feed_missing` and `update_check_failed`. */
export async function readLatestRelease({ options, upstream, version }: Parts): Promise<Release> {
  const url = releaseFeed({ options })
  if (url === '') fail('update_feed_missing')
  const reply = await ask(upstream, url)
  const found = feed.safeParse(readJson(reply.body))
  if (!found.success)
    return fail('update_check_failed', { reason: { zh: '返回的内容不是发布信息', en: 'the answer describes no release' } })
  const { tag_name, name, body, html_url, published_at } = found.data
  return {
    current: version,
    latest: tag_name.replace(/^v/i, ''),
    is_newer: isNewer(tag_name, version),
    title: (name ?? '').slice(0, 200) || tag_name,
    notes: (body ?? '').slice(0, notesLengthMax),
    url: html_url && /^https:\/\/\S+$/.test(html_url) ? html_url : '',
    published_at: (published_at ?? '').slice(0, 40),
  }
}

/**
 * Whether a version is newer than another in semantic versioning: `v1.0.0` after `1.0.0-rc.2` after `1.0.0-rc.1`. Missing numbers
 * count as 0, more than three numbers are compared too, and a text without a version is never newer.
 */
export function isNewer(version: string, than: string): boolean {
  const [given, known] = [partsOf(version), partsOf(than)]
  const release = compareLists(given.release, known.release, 0)
  if (release !== 0) return release > 0
  if (given.preRelease.length === 0 || known.preRelease.length === 0) return given.preRelease.length < known.preRelease.length
  return compareLists(given.preRelease, known.preRelease, -1) > 0
}

type Part = number | string

/** The numbers of the release, and the parts of the pre-release after its `-`. Build metadata after `+` does not order versions. */
function partsOf(text: string): { release: Part[]; preRelease: Part[] } {
  const [version = ''] = text.split('+')
  const [release = '', ...rest] = version.split('-')
  const preRelease = rest.length === 0 ? [] : rest.join('-').split('.')
  return {
    release: (release.match(/\d+/g) ?? []).map(Number),
    preRelease: preRelease.map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  }
}

/** Above 0 when the first different part is greater in `left`: numbers by value, before words, which are compared as text. */
function compareLists(left: readonly Part[], right: readonly Part[], missing: Part): number {
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const [a, b] = [left[at] ?? missing, right[at] ?? missing]
    if (a === b) continue
    if (typeof a === 'number' && typeof b === 'number') return a - b
    if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : 1
    return typeof a === 'string' ? 1 : -1
  }
  return 0
}

async function ask(upstream: UpstreamAgents, url: string): Promise<Reply> {
  const headers = { accept: 'application/json', 'user-agent': 'Sluice-Update-Check' }
  try {
    const reply = await callConfigured(upstream, { url, headers, timeoutMs, sizeBytesMax: answerMaxBytes })
    if (reply.status === 200) return reply
    return fail('update_check_failed', {
      reason: { zh: `返回了状态 ${reply.status}`, en: `it answered with status ${reply.status}` },
    })
  } catch (error) {
    if (error instanceof CallFailure) return fail('update_check_failed', { reason: error.text })
    throw error
  }
}
