import { noUsage, type Usage } from '../../../../contract/usage.ts'
import { cachedKinds, placeTotals } from '../place-totals.ts'
import { areCounts, countAt, type JsonObject, objectAt } from '../wire-format.ts'

/**
 * Usage of one response of a session in disjoint buckets, in tokens. Cached tokens are part of those of their kind. Undefined when
 * nothing is reported or a number is invalid. Source: types of the official SDK 7.51, protocols notes 1.11, read 2026-11.
 */
export function readRealtimeUsage(response: JsonObject): Usage | undefined {
  const usage = objectAt(response, 'usage')
  if (!usage || !areCounts(usage, ['input_tokens', 'output_tokens', 'total_tokens'])) return undefined
  if (typeof usage.input_tokens !== 'number' && typeof usage.output_tokens !== 'number') return undefined

  const read = objectAt(usage, 'input_token_details')
  const cached = objectAt(read ?? {}, 'cached_tokens_details')
  const total = countAt(usage, 'input_tokens')
  const output = countAt(usage, 'output_tokens')
  // Cached tokens without details are text.
  const [cachedAudio, cachedImage] = [countAt(cached, 'audio_tokens'), countAt(cached, 'image_tokens')]
  const placed = placeTotals({ prompt: total, completion: output, total: 0, cached: countAt(read, 'cached_tokens') })
  const fresh = placed.plain
  const audioInput = Math.min(fresh, Math.max(0, countAt(read, 'audio_tokens') - cachedAudio))
  const imageInput = Math.min(fresh - audioInput, Math.max(0, countAt(read, 'image_tokens') - cachedImage))
  const audioOutput = Math.min(output, countAt(objectAt(usage, 'output_token_details'), 'audio_tokens'))
  return {
    ...noUsage,
    input: fresh - audioInput - imageInput,
    ...cachedKinds(placed.cached, { audio: cachedAudio, image: cachedImage }),
    ...placed.marks,
    audioInput,
    imageInput,
    output: output - audioOutput,
    audioOutput,
  }
}
