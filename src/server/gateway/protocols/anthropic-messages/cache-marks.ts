import type { CacheMark } from '../dialogue.ts'
import type { JsonObject } from '../wire-format.ts'

/** A block of a request while it is written. */
export type Block = Record<string, unknown>

/** `cache_control` of a part, for its block. */
export function cacheControl(cache: CacheMark | undefined): JsonObject {
  return cache ? { cache_control: { type: 'ephemeral', ...(cache.ttl === '1h' ? { ttl: '1h' } : {}) } } : {}
}

/**
 * Keeps the last four breakpoints of a request, which is the vendor's maximum, and shortens one of an hour after one of five
 * minutes. Those inside of tool results count too. Changes the blocks in place. Source: protocols notes 3.9.
 */
export function limitCacheMarks(request: {
  readonly tools: readonly Block[]
  readonly system: readonly Block[]
  readonly messages: readonly { readonly content: readonly Block[] }[]
  /** The request also lets the vendor choose a breakpoint, which counts toward the maximum. */
  readonly isAutomatic: boolean
}): void {
  const { tools, system, messages, isAutomatic } = request
  const blocks = messages.flatMap(({ content }) => content.flatMap(withInner))
  const marked = [...tools, ...system, ...blocks].filter((block) => block.cache_control)
  const keep = breakpointsMax - (isAutomatic ? 1 : 0)
  for (const block of marked.slice(0, Math.max(0, marked.length - keep))) delete block.cache_control

  let isShort = false
  for (const block of marked) {
    if (block.cache_control === undefined) continue
    if (isShort) block.cache_control = { type: 'ephemeral' }
    else isShort = !isHour(block.cache_control)
  }
}

const breakpointsMax = 4

/** A block behind the blocks in it, since its breakpoint is after all of them. */
function withInner(block: Block): Block[] {
  return Array.isArray(block.content) ? [...block.content, block] : [block]
}

function isHour(mark: unknown): boolean {
  return typeof mark === 'object' && mark !== null && 'ttl' in mark && mark.ttl === '1h'
}
