import type { DirectAnswer, DirectConversion, FetchedFile } from '../../src/server/gateway/protocols/direct/conversion.ts'
import type { CallerFormat, Format } from '../../src/server/gateway/protocols/format.ts'
import { directConversions } from '../../src/server/gateway/protocols/index.ts'
import type { JsonObject, UploadedFile } from '../../src/server/gateway/protocols/wire-format.ts'

/** The conversion between two forms. Throws when there is none. */
export function conversionOfTest(from: CallerFormat, to: Format): DirectConversion {
  const found = directConversions.find((each) => each.from === from && each.to === to)
  if (!found) throw new Error(`There is no conversion of ${from} to ${to}`)
  return found
}

/** A request in another format: the request sent, the lost members, and the reader of replies. */
export function convertOfTest(
  from: CallerFormat,
  to: Format,
  body: JsonObject,
  more: {
    files?: readonly UploadedFile[]
    upstreamModel?: string
    stream?: boolean
    fetched?: ReadonlyMap<string, FetchedFile>
  } = {},
) {
  const lost = new Set<string>()
  const plan = conversionOfTest(from, to).convert({
    body,
    files: more.files ?? [],
    model: 'asked',
    upstreamModel: more.upstreamModel ?? 'theirs',
    createdAt: 1_700_000_000,
    stream: more.stream ?? false,
    quirks: {},
    settings: { claudeDefaultMaxTokens: { default: 8192 }, claudeThinkingShare: undefined, geminiSafety: {} },
    fetched: more.fetched ?? new Map(),
    lose: (field) => lost.add(field),
  })
  const answer = (...replies: JsonObject[]): DirectAnswer => plan.read(replies)
  return {
    plan,
    bodies: plan.requests.map((request): JsonObject => ('json' in request ? request.json : { bytes: request.bytes })),
    lost: [...lost].sort(),
    answer,
    /** The body of an answer; throws when it is refused. */
    read(...replies: JsonObject[]): JsonObject {
      const told = answer(...replies)
      if (told.kind !== 'json') throw new Error(`It answered with ${JSON.stringify(told).slice(0, 300)}`)
      return told.body
    },
  }
}

/** The error thrown by an action; undefined when it throws none. */
export function failureOf(action: () => unknown): unknown {
  try {
    action()
    return undefined
  } catch (error) {
    return error
  }
}
